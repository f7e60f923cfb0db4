"""``GET /health``: open, and silent about everything but whether parts are there."""

from fastapi import APIRouter, Response

from botforge import __version__
from botforge.http.schemas.health import HealthReply
from botforge.services.health import HealthService


def health_router(service: HealthService) -> APIRouter:
    router = APIRouter(tags=["health"])

    @router.get("/health", responses={503: {"model": HealthReply, "description": "A required part is missing."}})
    def health(response: Response) -> HealthReply:
        report = service.report()
        response.status_code = 200 if report.healthy else 503
        return HealthReply.of(report, __version__)

    return router
