"""``./scripts/check``: all that a change must pass, what fails fastest first; ``--fast`` leaves the build out."""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from botforge_dev.build import toolchain
from botforge_dev.build.layout import ROOT
from botforge_dev.gate import openapi, requirements
from botforge_dev.gate.test import main as run_tests


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    run: Callable[[], int]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="check", description=__doc__)
    parser.add_argument("--fast", action="store_true", help="no build, and only the fast tests")
    options = parser.parse_args(arguments)
    for step in _steps(fast=options.fast):
        print(f"── {step.name}", flush=True)
        start = time.monotonic()
        status = step.run()
        if status != 0:
            print(f"check: {step.name} failed", file=sys.stderr)
            return status
        print(f"   {time.monotonic() - start:.0f} s", flush=True)
    return 0


def _steps(*, fast: bool) -> list[Step]:
    bin_folder = Path(sys.executable).parent
    steps = [
        Step("format", _program(bin_folder / "ruff", "format", "--check", "--quiet", ".")),
        Step("lint", _program(bin_folder / "ruff", "check", "--quiet", ".")),
        Step("import contracts", _program(bin_folder / "lint-imports", "--no-cache")),
        Step("types", _program(bin_folder / "pyright")),
        Step("API description", openapi.check),
        Step("requirements", requirements.check),
        Step("cfn-lint", _program(bin_folder / "cfn-lint", "template.yaml")),
        Step("sam validate --lint", _sam("validate", "--lint")),
    ]
    return [*steps, Step("tests", lambda: run_tests([] if fast else ["--slow"]))]


def _program(path: Path, *arguments: str) -> Callable[[], int]:
    def run() -> int:
        return subprocess.run([str(path), *arguments], cwd=ROOT, check=False).returncode  # noqa: S603 - our own tools

    return run


def _sam(*arguments: str) -> Callable[[], int]:
    def run() -> int:
        command: Sequence[str] = [toolchain.sam(), *arguments]
        env = toolchain.sam_environment()
        return subprocess.run(command, cwd=ROOT, env=env, check=False).returncode  # noqa: S603

    return run


if __name__ == "__main__":
    sys.exit(main())
