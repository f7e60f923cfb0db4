"""On a schedule: what is stuck, expired or deleted is cleared away."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.storage.s3 import S3ObjectStore
from botforge.services.monitoring import MonitoringService
from botforge.settings import MonitorSettings, load
from botforge.telemetry import instrumented, record_monitoring
from botforge.wiring.database import WORKER_MS, connect
from botforge.wiring.vectors import vector_index


def build() -> Callable[[Any, Any], dict[str, Any]]:
    settings = load(MonitorSettings)
    database = connect(settings, statement_timeout_ms=WORKER_MS)
    service = MonitoringService(
        maintenance=PostgresMaintenance(database),
        objects=S3ObjectStore(settings.bucket),
        vectors=vector_index(settings, database),
    )

    def handler(_event: Any, _context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's
        result = service.run()
        record_monitoring(result)
        return asdict(result)

    return instrumented(handler)
