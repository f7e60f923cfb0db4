"""The API's description, generated from the routes and committed: ``python -m botforge_dev.gate.openapi [--write]``."""

import difflib
import json
import sys
from typing import Any, cast

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from botforge import __version__
from botforge.http.app import create_app
from botforge.http.routes.agent import agent_router
from botforge.http.routes.bots import bots_router
from botforge.http.routes.documents import documents_router
from botforge.http.routes.dynamic import dynamic_router
from botforge.http.routes.health import health_router
from botforge.http.routes.queries import queries_router
from botforge.http.routes.routing_examples import routing_examples_router
from botforge.http.routes.tool_servers import tool_servers_router
from botforge.http.routes.tools import tools_router
from botforge.http.schemas.documents import UploadRequest
from botforge.http.schemas.fields import Problem
from botforge_dev.build.layout import ROOT

FILE = ROOT / "docs" / "api" / "openapi.json"
_BEARER = {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}}
_UNAUTHORIZED = {
    "description": "No valid token. The gateway itself answers, so this is no problem document.",
    "content": {"application/json": {"example": {"message": "Unauthorized"}}},
}


def describe() -> dict[str, Any]:
    """The OpenAPI document of all functions together."""
    nothing = cast("Any", None)  # routes are described, never called
    routers = [
        queries_router(nothing, nothing, deadline=nothing, models=frozenset(), on_result=nothing),
        dynamic_router(nothing, deadline=nothing, models=frozenset(), on_result=nothing),
        agent_router(nothing, deadline=nothing, models=frozenset(), on_result=nothing),
        documents_router(nothing),
        bots_router(nothing),
        tool_servers_router(nothing, deadline=nothing),
        tools_router(nothing),
        routing_examples_router(nothing),
        health_router(nothing),
    ]
    app = create_app(routers)
    document = get_openapi(
        title="BotForge",
        version=__version__,
        description="Bots that answer from documents, with evidence.",
        routes=app.routes,
    )
    schemas: dict[str, Any] = document.setdefault("components", {}).setdefault("schemas", {})
    _, more = models_json_schema(
        [(Problem, "serialization"), (UploadRequest, "validation")], ref_template="#/components/schemas/{model}"
    )
    schemas.update(more["$defs"])
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    document["components"]["securitySchemes"] = _BEARER
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path != "/health":
                operation["security"] = [{"bearer": []}]
                operation["responses"]["401"] = _UNAUTHORIZED
    return document


def check() -> int:
    """0 if the committed description is what the code says; otherwise prints the difference."""
    committed = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    current = _text()
    if committed == current:
        return 0
    lines = difflib.unified_diff(committed.splitlines(), current.splitlines(), "committed", "current", lineterm="")
    print("\n".join(list(lines)[:60]))
    print("The API has changed: if that is meant, run python -m botforge_dev.gate.openapi --write.")
    return 1


def _text() -> str:
    return json.dumps(describe(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(_text(), encoding="utf-8")
        return 0
    return check()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
