"""``./scripts/evaluate SUITE --data FOLDER --split NAME [--json] [--url URL --token TOKEN]``."""

import argparse
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any, cast

import httpx
import psycopg

from botforge_dev.evaluation.datasets import DataError
from botforge_dev.evaluation.product import ProductError
from botforge_dev.evaluation.stack import own_stack, progress, running
from botforge_dev.evaluation.suites import PARTS, SUITES
from botforge_dev.local.aws import AwsError
from botforge_dev.local.data_folder import FolderError
from botforge_dev.local.postgres import PostgresError
from botforge_dev.local.supervisor import StackError
from botforge_dev.model.weights import WeightsError

_FAULTS = (
    AwsError, DataError, FolderError, PostgresError, ProductError, StackError, WeightsError,
    httpx.HTTPError, psycopg.Error,
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="evaluate", description="Figures over labelled data, through the product.")
    parser.add_argument("suite", choices=sorted([*SUITES, *PARTS]))
    parser.add_argument("--data", type=Path, required=True, help="folder with the labelled data")
    parser.add_argument("--split", required=True, help="which part of it, as its files are named")
    parser.add_argument("--json", action="store_true", help="print exactly one JSON object")
    parser.add_argument("--url", help="a product that runs already; without it a local stack is started")
    parser.add_argument("--token", help="of the user to evaluate as; needed with --url")
    chosen = parser.parse_args(arguments)
    if bool(chosen.url) != bool(chosen.token):
        parser.error("--url and --token belong together")
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    start = time.monotonic()
    try:
        figures = _figures(chosen)
    except _FAULTS as error:
        print(f"evaluate: {error}", file=sys.stderr)
        return 1
    figures = {"suite": chosen.suite, "split": chosen.split, "seconds": round(time.monotonic() - start, 1), **figures}
    print(json.dumps(figures) if chosen.json else "\n".join(lines(figures)))
    return 0


def _figures(chosen: argparse.Namespace) -> dict[str, Any]:
    if chosen.suite in PARTS:
        return PARTS[chosen.suite](chosen.data, chosen.split, progress)
    with running(chosen.url, chosen.token) if chosen.url else own_stack() as product:
        return SUITES[chosen.suite](product, chosen.data, chosen.split)


def lines(figures: dict[str, Any], indent: str = "") -> list[str]:
    """Figures as an indented outline."""
    made: list[str] = []
    for name, value in figures.items():
        if isinstance(value, dict):
            made += [f"{indent}{name}", *lines(cast("dict[str, Any]", value), f"{indent}  ")]
        elif isinstance(value, list):
            items = cast("list[Any]", value)
            made += [f"{indent}{name}", *(f"{indent}  {json.dumps(item, ensure_ascii=False)}" for item in items)]
        else:
            made.append(f"{indent}{name}: {value}")
    return made


if __name__ == "__main__":
    sys.exit(main())
