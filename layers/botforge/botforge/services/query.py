"""The use case that everything else exists for: a question in, an answer with its evidence out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from botforge.domain.answer import Answer, Link, Source
from botforge.domain.bot import Bot
from botforge.domain.chunk import Retrieval
from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError, ObjectStoreUnavailable
from botforge.domain.ids import ObjectKey
from botforge.domain.query import Intent, ProcessingType, Query, QueryRecord, QueryStatus
from botforge.ports.clock import Clock
from botforge.ports.links import Links
from botforge.services.answering import Answerer
from botforge.services.dialogue import Dialogue
from botforge.services.query_log import QueryLog
from botforge.services.retrieval import Retriever
from botforge.services.stages import Stages


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer and the record of how it came about. ``record`` is what ``queries`` remembers."""

    answer: Answer
    retrieval: Retrieval
    record: QueryRecord
    searched: str  # the question as it was searched for; in a conversation it can differ from the message
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class QueryService:
    log: QueryLog
    dialogue: Dialogue
    retriever: Retriever
    answerer: Answerer
    links: Links
    clock: Clock

    def ask(self, query: Query, deadline: Deadline) -> QueryResult:
        """Answer from the bot's documents.

        Raises NotFound for a bot that is not the user's, Conflict for one that is switched off, Unavailable when
        the database does not answer.
        """
        start = self.clock.monotonic()
        stages = Stages(self.clock.monotonic)
        with stages.measure("bot"):
            bot = self.log.bot(query)
        try:
            with stages.measure("history"):
                resolved = self.dialogue.resolve(query, deadline)
            retrieval = self._retrieve(query, resolved.text, bot, deadline, stages)
            with stages.measure("answer"):
                answer = self.answerer.answer(resolved.text, retrieval, model=query.model, deadline=deadline)
            with stages.measure("links"):
                answer = self._linked(query, answer)
            with stages.measure("history"):
                kept = self.dialogue.remember(query, answer.text)
        except BotForgeError as error:
            self.log.remember(self._record(query, QueryStatus.FAILED, start, stages, error_code=error.code))
            raise
        record = self._record(
            query,
            QueryStatus.ABSTAINED if answer.abstained else QueryStatus.ANSWERED,
            start,
            stages,
            answer=answer,
            best_relevance=retrieval.best_relevance,
        )
        remembered = self.log.remember(record)
        degraded = {**resolved.degraded, **answer.degraded}
        degraded |= {} if remembered else {"statistics": "database_unavailable"}
        degraded |= {} if kept else {"conversation": "database_unavailable"}
        return QueryResult(answer, retrieval, record, resolved.text, degraded)

    def _retrieve(self, query: Query, text: str, bot: Bot, deadline: Deadline, stages: Stages) -> Retrieval:
        return self.retriever.retrieve(
            query.user_id,
            query.bot_id,
            text,
            max_chunks=query.max_chunks or bot.max_chunks,
            threshold=bot.similarity_threshold if query.similarity_threshold is None else query.similarity_threshold,
            document_ids=query.document_ids,
            deadline=deadline,
            stages=stages,
        )

    def _linked(self, query: Query, answer: Answer) -> Answer:
        """The answer with a link in every source; without, and saying so, if none can be signed."""
        made: dict[str, Link] = {}

        def linked(source: Source) -> Source:
            path = source.passage.candidate.path
            if path not in made:
                made[path] = self.links.link(ObjectKey(query.user_id, query.bot_id, path))
            return replace(source, link=made[path])

        try:
            return replace(
                answer, sources=tuple(map(linked, answer.sources)), retrieved=tuple(map(linked, answer.retrieved))
            )
        except ObjectStoreUnavailable as error:
            return replace(answer, degraded={**answer.degraded, "links": error.code})

    def _record(
        self,
        query: Query,
        status: QueryStatus,
        start: float,
        stages: Stages,
        *,
        answer: Answer | None = None,
        best_relevance: float | None = None,
        error_code: str | None = None,
    ) -> QueryRecord:
        record = QueryRecord(
            query=query,
            intent=Intent.INFORMATION_RETRIEVAL,
            processing_type=ProcessingType.RAG,
            status=status,
            latency_ms=(self.clock.monotonic() - start) * 1000,
            stage_ms=dict(stages.milliseconds),
            best_relevance=best_relevance,
            error_code=error_code,
        )
        if answer is None:
            return record
        return replace(
            record, sources=len(answer.sources), model=answer.model, usage=answer.usage, degraded=answer.degraded
        )
