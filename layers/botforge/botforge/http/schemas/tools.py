"""Bodies of ``/api/mcp/tools`` and ``/api/mcp/executions``."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from botforge.domain.execution import Execution, ExecutionStatus
from botforge.domain.tool import ServerTool, ToolDefinition, ToolStatus
from botforge.http.schemas.fields import Moment, ReplyBody, RequestBody, Text
from botforge.http.schemas.tool_servers import PolicyReply

# One tool may bring two schemas of 64 KB, and one execution a result of 256 KB; Lambda's reply holds 6 MB.
ToolLimit = Annotated[int, Field(ge=1, le=25)]
ExecutionLimit = Annotated[int, Field(ge=1, le=20)]


class ToolChange(RequestBody):
    """``active`` accepts the definition that waits, or switches a disabled tool on again."""

    status: Literal[ToolStatus.ACTIVE, ToolStatus.DISABLED]
    digest: Annotated[Text, Field(max_length=200)] | None = Field(
        default=None, description="Of the definition that was looked at; another one is not accepted in its place."
    )


class DefinitionReply(ReplyBody):
    description: str
    input_schema: dict[str, Any]
    digest: str

    @classmethod
    def of(cls, definition: ToolDefinition) -> "DefinitionReply":
        return cls(
            description=definition.description,
            input_schema=dict(definition.input_schema),
            digest=definition.digest,
        )


class ToolReply(ReplyBody):
    id: UUID
    bot_id: UUID
    server_id: UUID
    server_name: str
    name: str
    description: str
    input_schema: dict[str, Any]
    digest: str
    status: ToolStatus
    policy: PolicyReply
    pending: DefinitionReply | None  # what waits for review
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, row: ServerTool) -> "ToolReply":
        tool = row.tool
        return cls(
            id=tool.id,
            bot_id=tool.bot_id,
            server_id=tool.server_id,
            server_name=row.server.name,
            name=tool.definition.name,
            **dict(DefinitionReply.of(tool.definition)),
            status=tool.status,
            policy=PolicyReply.of(row.policy),
            pending=DefinitionReply.of(tool.pending) if tool.pending else None,
            created_at=tool.created_at,
            updated_at=tool.updated_at,
        )


class ToolPage(ReplyBody):
    items: list[ToolReply]
    next_cursor: str | None


class ExecutionReply(ReplyBody):
    id: UUID
    bot_id: UUID
    server_id: UUID
    server_name: str
    query_id: UUID | None
    tool_name: str
    input_parameters: dict[str, Any]
    output_result: Any
    execution_time_ms: int | None
    status: ExecutionStatus
    attempts: int
    error_code: str | None
    error_message: str | None
    timestamp: Moment

    @classmethod
    def of(cls, execution: Execution) -> "ExecutionReply":
        return cls.model_validate(execution)


class ExecutionPage(ReplyBody):
    items: list[ExecutionReply]
    next_cursor: str | None
