"""What became of a call that the agent asked for, as the answer tells it."""

from dataclasses import dataclass

from botforge.domain.execution import ExecutionStatus
from botforge.domain.ids import ExecutionId, ToolServerId
from botforge.domain.tool import JsonObject, ServerTool, ToolResult


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One call. It is reported as done only if its execution row says so, or a cached result stands for it."""

    server_id: ToolServerId
    server_name: str
    tool_name: str  # as the server knows it
    arguments: JsonObject
    status: ExecutionStatus  # never STARTED
    duration_ms: float
    execution_id: ExecutionId | None = None  # None: no row was written, for nothing was sent
    cached: bool = False  # an earlier result was served, and nothing was called
    attempts: int = 0
    result: ToolResult | None = None  # what the server answered, if it did and the row says so
    error_code: str | None = None
    error_message: str | None = None

    @property
    def succeeded(self) -> bool:
        return self.status is ExecutionStatus.SUCCEEDED


def unsuccessful(
    target: ServerTool,
    arguments: JsonObject,
    status: ExecutionStatus,
    *,
    code: str,
    message: str,
    duration_ms: float = 0.0,
    execution_id: ExecutionId | None = None,
) -> ToolUse:
    """A call without a result."""
    return ToolUse(
        server_id=target.server.id,
        server_name=target.server.name,
        tool_name=target.tool.definition.name,
        arguments=arguments,
        status=status,
        duration_ms=duration_ms,
        execution_id=execution_id,
        error_code=code,
        error_message=message,
    )
