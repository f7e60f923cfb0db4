"""The FastAPI application of a function: its routers, problem documents, and headers on every reply."""

from collections.abc import Awaitable, Callable, Iterable

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from botforge import __version__
from botforge.http import problems
from botforge.http.event import request_id_of
from botforge.http.principal import Principal, authorizer_principal

_HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
}


def create_app(
    routers: Iterable[APIRouter],
    principal: Principal = authorizer_principal,
    on_error: Callable[[BaseException], None] = lambda _error: None,
) -> FastAPI:
    """No generated pages: the API's description is committed (docs/api/openapi.json), not served."""
    app = FastAPI(title="BotForge", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.principal = principal
    problems.install(app, on_error)
    app.middleware("http")(_with_headers)
    for router in routers:
        app.include_router(router)
    return app


async def _with_headers(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    response = await call_next(request)
    response.headers.update(_HEADERS)
    request_id = request_id_of(request)
    if request_id:
        response.headers["x-request-id"] = request_id
    return response
