"""What a function has loaded once its handler is there, seen from a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from botforge_dev.build.layout import ROOT
from botforge_dev.template import Template

# As in a Lambda environment, nothing answers while a function starts.
_ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "none",
    "AWS_SECRET_ACCESS_KEY": "none",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "BUCKET": "documents",
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing",
    "EMBEDDING_MODEL_DIR": str(ROOT / "layers" / "embedding" / "model"),
    "POWERTOOLS_METRICS_NAMESPACE": "BotForge",
    "PATH": os.environ["PATH"],
}

_PROBE = """
import gc, json, sys
import app
modules = sorted({name.partition(".")[0] for name in sys.modules})
routes = []
if "fastapi" in sys.modules:
    from fastapi import FastAPI
    from fastapi.openapi.utils import get_openapi
    for application in [found for found in gc.get_objects() if isinstance(found, FastAPI)]:
        described = get_openapi(title="x", version="1", routes=application.routes)
        routes += [[method.upper(), path] for path, methods in described["paths"].items() for method in methods]
print(json.dumps({"modules": modules, "routes": sorted(routes), "handler": callable(app.handler)}))
"""


@dataclass(frozen=True, slots=True)
class Initialised:
    """A function after init: top-level modules in memory, and (method, path) of every route it serves."""

    modules: frozenset[str]
    routes: frozenset[tuple[str, str]]


def function_folders() -> list[str]:
    """Every function that has a handler, by the name of its folder."""
    return sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py"))


@cache
def _initialise(name: str, settings: frozenset[tuple[str, str]]) -> Initialised:
    environment = {**_ENVIRONMENT, "POWERTOOLS_SERVICE_NAME": name, **dict(settings)}
    environment["PYTHONPATH"] = str(ROOT / "functions" / name)
    result = subprocess.run(  # noqa: S603
        [sys.executable, "-c", _PROBE], env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["handler"]
    return Initialised(frozenset(found["modules"]), frozenset((method, path) for method, path in found["routes"]))


@pytest.fixture(scope="session")
def initialise() -> Callable[[str, Mapping[str, str]], Initialised]:
    """Import a function's app.py in a fresh process, under the given variables."""
    return lambda name, settings: _initialise(name, frozenset(settings.items()))


@pytest.fixture(scope="session")
def template() -> Template:
    return Template(Path(ROOT) / "template.yaml")
