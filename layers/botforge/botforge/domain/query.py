"""A question to a bot, and the row that remembers how it went."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from botforge.domain.answer import Usage
from botforge.domain.execution import ExecutionStatus
from botforge.domain.ids import BotId, ConversationId, DocumentId, UserId


class Intent(StrEnum):
    INFORMATION_RETRIEVAL = "information_retrieval"
    EXECUTION = "execution"


class ProcessingType(StrEnum):
    RAG = "rag_information_retrieval"
    AGENT = "mcp_agent_execution"


class QueryStatus(StrEnum):
    ANSWERED = "answered"
    ABSTAINED = "abstained"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Query:
    """A question as the edge took it; ``None`` means the bot's own setting."""

    id: UUID
    user_id: UserId
    bot_id: BotId
    client_id: str
    text: str
    model: str | None = None
    max_chunks: int | None = None
    similarity_threshold: float | None = None
    document_ids: tuple[DocumentId, ...] = ()  # empty: all documents of the bot
    conversation_id: ConversationId | None = None  # None: the question stands alone


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """How a query went; one row in ``queries``."""

    query: Query
    intent: Intent
    processing_type: ProcessingType
    status: QueryStatus
    latency_ms: float
    stage_ms: dict[str, float] = field(default_factory=dict[str, float])  # embed, retrieve, answer
    best_relevance: float | None = None
    sources: int = 0
    model: str | None = None
    usage: Usage = Usage()
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])  # the missing part → why
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """A window of a bot's query rows, summed up."""

    since: datetime
    until: datetime
    total: int
    by_intent: dict[str, int]
    by_status: dict[str, int]
    degraded: int
    latency_p50_ms: float | None
    latency_p95_ms: float | None
    mean_relevance: float | None
    prompt_tokens: int
    completion_tokens: int
    executions_by_status: dict[str, int]

    @property
    def tool_success_rate(self) -> float | None:
        """The share of ended executions that succeeded; None if there was none."""
        ended = sum(n for status, n in self.executions_by_status.items() if status != ExecutionStatus.STARTED)
        return self.executions_by_status.get(ExecutionStatus.SUCCEEDED, 0) / ended if ended else None
