"""The reply of ``/vector/mcp-query``."""

from typing import Any
from uuid import UUID

from botforge.domain.execution import ExecutionStatus
from botforge.domain.query import Intent, ProcessingType
from botforge.domain.tool_use import ToolUse
from botforge.http.schemas.fields import ReplyBody
from botforge.http.schemas.queries import UsageReply
from botforge.services.agent_query import AgentResult


class ToolUseReply(ReplyBody):
    server: str
    server_id: UUID
    tool: str
    arguments: dict[str, Any]
    status: ExecutionStatus  # succeeded, failed or unknown: as the execution's row says
    duration_ms: float
    execution_id: UUID | None  # of /api/mcp/executions; null where nothing was sent
    cached: bool  # an earlier result was served, and nothing was called
    attempts: int
    error_code: str | None
    error_message: str | None

    @classmethod
    def of(cls, use: ToolUse) -> "ToolUseReply":
        return cls(
            server=use.server_name,
            server_id=use.server_id,
            tool=use.tool_name,
            arguments=dict(use.arguments),
            status=use.status,
            duration_ms=round(use.duration_ms, 3),
            execution_id=use.execution_id,
            cached=use.cached,
            attempts=use.attempts,
            error_code=use.error_code,
            error_message=use.error_message,
        )


class AgentReply(ReplyBody):
    request_id: str | None
    user_id: UUID
    bot_id: UUID
    query: str
    conversation_id: UUID | None
    response: str  # ends with what was executed, what failed, and what nobody knows
    intent: Intent
    processing_type: ProcessingType
    execution_time: float  # seconds
    mcp_tools_used: list[ToolUseReply]
    agent_reasoning: str  # told from the trace, not by the model
    rounds: int
    tools_withheld: list[str]  # servers whose circuit is open
    abstained: bool  # there was no tool to act with
    model: str | None
    usage: UsageReply
    degraded: list[str]
    degraded_reasons: dict[str, str]
    stage_ms: dict[str, float]

    @classmethod
    def of(cls, result: AgentResult, request_id: str | None) -> "AgentReply":
        record, answer = result.record, result.answer
        return cls(
            request_id=request_id,
            user_id=record.query.user_id,
            bot_id=record.query.bot_id,
            query=record.query.text,
            conversation_id=record.query.conversation_id,
            response=answer.text,
            intent=record.intent,
            processing_type=record.processing_type,
            execution_time=round(record.latency_ms / 1000, 4),
            mcp_tools_used=[ToolUseReply.of(use) for use in answer.tools_used],
            agent_reasoning=answer.reasoning,
            rounds=answer.rounds,
            tools_withheld=list(answer.withheld),
            abstained=answer.abstained,
            model=answer.model,
            usage=UsageReply.of(record.usage),
            degraded=sorted(result.degraded),
            degraded_reasons=dict(result.degraded),
            stage_ms={name: round(duration, 3) for name, duration in record.stage_ms.items()},
        )
