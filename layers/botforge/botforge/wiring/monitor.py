"""On a schedule: tool servers are looked at; what is stuck, expired or deleted is cleared away."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from botforge.adapters.clock import SystemClock
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.postgres.server_checks import PostgresServerChecks
from botforge.adapters.storage.s3 import S3ObjectStore
from botforge.domain.deadline import Deadline
from botforge.services.monitoring import MonitoringService
from botforge.services.tool_credentials import ToolCredentials
from botforge.services.tool_monitoring import ToolMonitor
from botforge.settings import MonitorSettings, load
from botforge.telemetry import instrumented, log_unforeseen, record_monitoring, record_tool_monitoring
from botforge.wiring.database import WORKER_MS, connect
from botforge.wiring.tools import transport, vault
from botforge.wiring.vectors import vector_index

_CHECKS_S = 150.0  # of the function's 240
_REST_S = 60.0  # what the checks leave to everything else


def build() -> Callable[[Any, Any], dict[str, Any]]:
    settings = load(MonitorSettings)
    database = connect(settings, statement_timeout_ms=WORKER_MS)
    service = MonitoringService(
        maintenance=PostgresMaintenance(database),
        objects=S3ObjectStore(settings.bucket),
        vectors=vector_index(settings, database),
    )
    monitor = ToolMonitor(
        checks=PostgresServerChecks(database),
        transport=transport(settings),
        credentials=ToolCredentials(vault(settings)),
        clock=SystemClock(),
        on_unforeseen=log_unforeseen,
    )

    def handler(_event: Any, context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's
        # First: their time is bounded, and that of a purge depends on how much there is.
        remaining_s = float(context.get_remaining_time_in_millis()) / 1000
        checked = monitor.run(Deadline.after(max(0.0, min(_CHECKS_S, remaining_s - _REST_S))))
        record_tool_monitoring(checked)
        result = service.run()
        record_monitoring(result)
        return {**asdict(result), "servers_answered": checked.answered, "servers_failed": checked.failed}

    return instrumented(handler)
