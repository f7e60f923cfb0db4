"""Bodies of ``/vector``."""

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from pydantic import Field

from botforge.domain.answer import Source, Usage
from botforge.domain.chunk import Retrieval
from botforge.domain.query import Intent, ProcessingType, QueryStatistics
from botforge.http.schemas.fields import (
    ClientId,
    MaxChunks,
    Moment,
    ReplyBody,
    SimilarityThreshold,
    TenantBody,
    VisibleText,
)
from botforge.services.query import QueryResult

MAX_QUERY_CHARACTERS = 8_000


class QueryRequest(TenantBody):
    client_id: ClientId
    query: Annotated[VisibleText, Field(min_length=1, max_length=MAX_QUERY_CHARACTERS)]
    model: Annotated[VisibleText, Field(max_length=200)] | None = None
    max_chunks: MaxChunks | None = None
    similarity_threshold: SimilarityThreshold | None = None
    document_ids: Annotated[tuple[UUID, ...], Field(max_length=100)] = ()
    conversation_id: UUID | None = None  # of the client's choosing: its first message begins the conversation


class SourceReply(ReplyBody):
    number: int  # the marker in the response: [1]
    document_id: UUID
    chunk_id: str
    filename: str
    path: str
    title: str | None
    headings: list[str]
    page: int | None
    text: str
    relevance: float  # calibrated, 0..1
    score: float | None  # cosine similarity; None if only lexical search found it
    link: str | None  # to the original document, for whoever holds it
    link_expires_in: int | None  # seconds

    @classmethod
    def of(cls, source: Source) -> "SourceReply":
        candidate = source.passage.candidate
        return cls(
            number=source.number,
            document_id=candidate.ref.document_id,
            chunk_id=str(candidate.ref),
            filename=candidate.filename,
            path=candidate.path,
            title=candidate.title,
            headings=list(candidate.headings),
            page=candidate.page,
            text=candidate.text,
            relevance=round(source.passage.relevance, 4),
            score=None if candidate.cosine is None else round(candidate.cosine, 4),
            link=source.link.url if source.link else None,
            link_expires_in=source.link.expires_in if source.link else None,
        )


class SearchReply(ReplyBody):
    """What was searched, and how near the best passage was."""

    passages: int  # that were compared with the question: those that either search found nearest
    documents: int  # that these are from
    threshold: float  # the relevance that a passage had to reach
    best_relevance: float
    nearest: str | None  # the file name of the best passage

    @classmethod
    def of(cls, retrieval: Retrieval) -> "SearchReply":
        return cls(
            passages=retrieval.candidates,
            documents=retrieval.documents,
            threshold=retrieval.threshold,
            best_relevance=round(retrieval.best_relevance, 4),
            nearest=retrieval.nearest.candidate.filename if retrieval.nearest else None,
        )


class UsageReply(ReplyBody):
    """Of every call to the LLM: rewriting and translating a question count as well."""

    prompt_tokens: int
    completion_tokens: int

    @classmethod
    def of(cls, usage: Usage) -> "UsageReply":
        return cls(prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens)


class QueryReply(ReplyBody):
    request_id: str | None
    user_id: UUID
    bot_id: UUID
    query: str
    conversation_id: UUID | None
    searched: str  # the question as it was searched for: with what a follow-up refers to, or translated
    response: str
    intent: Intent
    processing_type: ProcessingType
    execution_time: float  # seconds
    sources: list[SourceReply]  # cited in the response
    retrieved: list[SourceReply]  # given to answer from as well, and not cited
    abstained: bool
    grounded: bool | None  # every statement is supported by what it cites; None: nothing was stated or checked
    unsupported: list[str]  # the sentences that are not
    search: SearchReply
    best_relevance: float
    model: str | None
    usage: UsageReply
    removed_citations: int
    degraded: list[str]
    degraded_reasons: dict[str, str]
    stage_ms: dict[str, float]

    @classmethod
    def of(cls, result: QueryResult, request_id: str | None) -> "QueryReply":
        record, answer = result.record, result.answer
        return cls(
            request_id=request_id,
            user_id=record.query.user_id,
            bot_id=record.query.bot_id,
            query=record.query.text,
            conversation_id=record.query.conversation_id,
            searched=result.searched,
            response=answer.text,
            intent=record.intent,
            processing_type=record.processing_type,
            execution_time=round(record.latency_ms / 1000, 4),
            sources=[SourceReply.of(source) for source in answer.sources],
            retrieved=[SourceReply.of(source) for source in answer.retrieved],
            abstained=answer.abstained,
            grounded=answer.grounded,
            unsupported=list(answer.unsupported),
            search=SearchReply.of(result.retrieval),
            best_relevance=round(result.retrieval.best_relevance, 4),
            model=answer.model,
            usage=UsageReply.of(record.usage),
            removed_citations=answer.removed_markers,
            degraded=sorted(result.degraded),
            degraded_reasons=dict(result.degraded),
            stage_ms={name: round(duration, 3) for name, duration in record.stage_ms.items()},
        )


class StatisticsReply(ReplyBody):
    user_id: UUID
    bot_id: UUID
    since: Moment
    until: Moment
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
    tool_success_rate: float | None  # of the executions that ended

    @classmethod
    def of(cls, user_id: UUID, bot_id: UUID, statistics: QueryStatistics) -> "StatisticsReply":
        rate = statistics.tool_success_rate
        return cls(user_id=user_id, bot_id=bot_id, tool_success_rate=rate, **asdict(statistics))
