"""The reply of ``/vector/query-dynamic``."""

from uuid import UUID

from botforge.domain.query import Intent, ProcessingType, QueryStatus
from botforge.domain.routing import DecidedBy, Routing
from botforge.http.schemas.agent import ToolUseReply
from botforge.http.schemas.fields import ReplyBody
from botforge.http.schemas.queries import SearchReply, SourceReply, UsageReply
from botforge.services.dynamic import DynamicResult
from botforge.services.looked_up import LookedUp


class RoutingReply(ReplyBody):
    p_execution: float  # calibrated, 0..1
    best_tool: str | None  # the bot's tool nearest to the message; null: none can be called
    best_tool_similarity: float | None  # cosine
    best_passage: float | None  # relevance of the bot's best passage; null: none was looked for
    decided_by: DecidedBy

    @classmethod
    def of(cls, routing: Routing) -> "RoutingReply":
        return cls(
            p_execution=round(routing.p_execution, 4),
            best_tool=routing.best_tool,
            best_tool_similarity=_rounded(routing.best_tool_similarity),
            best_passage=_rounded(routing.best_passage),
            decided_by=routing.decided_by,
        )


class DynamicReply(ReplyBody):
    request_id: str | None
    user_id: UUID
    bot_id: UUID
    query: str
    conversation_id: UUID | None
    searched: str | None  # what the documents were searched for; null: nobody looked into them
    response: str
    intent: Intent
    confidence: float  # how probable it is that the intent is right
    routing: RoutingReply
    processing_type: ProcessingType
    execution_time: float  # seconds
    sources: list[SourceReply]  # what the response cites
    retrieved: list[SourceReply]  # passages that were read as well, and are not cited
    mcp_tools_used: list[ToolUseReply]
    agent_reasoning: str | None  # told from the trace; null: no agent was asked
    abstained: bool
    grounded: bool | None  # every statement is supported by what it cites; null: nothing was stated or checked
    unsupported: list[str]  # the sentences that are not
    search: SearchReply | None  # null: no answer was made from the documents alone
    removed_citations: int
    model: str | None
    usage: UsageReply
    degraded: list[str]
    degraded_reasons: dict[str, str]
    stage_ms: dict[str, float]

    @classmethod
    def of(cls, result: DynamicResult, request_id: str | None) -> "DynamicReply":
        record = result.record
        answer = result.answered.answer if result.answered else None
        acted = result.acted.answer if result.acted else None
        evidence = answer or result.looked_up or LookedUp()
        return cls(
            request_id=request_id,
            user_id=record.query.user_id,
            bot_id=record.query.bot_id,
            query=record.query.text,
            conversation_id=record.query.conversation_id,
            searched=result.searched,
            response=result.text,
            intent=result.intent,
            confidence=round(result.routing.confidence, 4),
            routing=RoutingReply.of(result.routing),
            processing_type=record.processing_type,
            execution_time=round(record.latency_ms / 1000, 4),
            sources=[SourceReply.of(source) for source in evidence.sources],
            retrieved=[SourceReply.of(source) for source in evidence.retrieved],
            mcp_tools_used=[ToolUseReply.of(use) for use in (acted.tools_used if acted else ())],
            agent_reasoning=acted.reasoning if acted else None,
            abstained=record.status is QueryStatus.ABSTAINED,
            grounded=evidence.grounded,
            unsupported=list(evidence.unsupported),
            search=SearchReply.of(result.answered.retrieval) if result.answered else None,
            removed_citations=evidence.removed_markers,
            model=record.model,
            usage=UsageReply.of(record.usage),
            degraded=sorted(result.degraded),
            degraded_reasons=dict(result.degraded),
            stage_ms={name: round(duration, 3) for name, duration in record.stage_ms.items()},
        )


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
