"""A tool call and the row that proves it: written before the request leaves, ended by what is known afterwards."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from botforge.domain.ids import BotId, ExecutionId, ToolServerId, UserId
from botforge.domain.tool import JsonObject


class ExecutionStatus(StrEnum):
    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # it surely had no success: never sent, refused, or the tool reported an error
    UNKNOWN = "unknown"  # it may have happened: no answer, or nobody was left to hear it


@dataclass(frozen=True, slots=True)
class Execution:
    """One row of ``mcp_executions``. A result served from the cache has no row: nothing was executed."""

    id: ExecutionId
    user_id: UserId
    bot_id: BotId
    server_id: ToolServerId
    server_name: str  # kept when the server is deleted
    query_id: UUID | None
    tool_name: str
    input_parameters: JsonObject
    output_result: Any  # JSON, capped; None until it succeeded or failed with an answer
    execution_time_ms: int | None
    status: ExecutionStatus
    attempts: int
    error_code: str | None
    error_message: str | None
    timestamp: datetime  # when it started


@dataclass(frozen=True, slots=True)
class ExecutionOutcome:
    """What ends an execution."""

    status: ExecutionStatus  # never STARTED
    execution_time_ms: int
    attempts: int
    output_result: Any = None
    error_code: str | None = None
    error_message: str | None = None
