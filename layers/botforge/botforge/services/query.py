"""The use case that everything else exists for: a question in, an answer with its evidence out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from botforge.domain.answer import Answer
from botforge.domain.chunk import Retrieval
from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError
from botforge.domain.query import Intent, ProcessingType, Query, QueryRecord, QueryStatus
from botforge.ports.clock import Clock
from botforge.services.answering import Answerer
from botforge.services.dialogue import Dialogue, Resolved
from botforge.services.query_log import QueryLog
from botforge.services.question_search import QuestionSearch, Searched
from botforge.services.source_links import SourceLinks
from botforge.services.stages import Stages


@dataclass(frozen=True, slots=True)
class QueryResult:
    """An answer and the record of how it came about. ``record`` is what ``queries`` remembers."""

    answer: Answer
    retrieval: Retrieval
    record: QueryRecord
    searched: str  # the question as it was searched for: resolved in its conversation, or translated
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class QueryService:
    log: QueryLog
    dialogue: Dialogue
    search: QuestionSearch
    answerer: Answerer
    links: SourceLinks
    clock: Clock

    def ask(self, query: Query, deadline: Deadline, resolved: Resolved | None = None) -> QueryResult:
        """Answer from the bot's documents. ``resolved``: the message as its conversation says, if that is known.

        Raises NotFound for a bot that is not the user's, Conflict for one that is switched off, Unavailable when
        the database does not answer.
        """
        start = self.clock.monotonic()
        stages = Stages(self.clock.monotonic)
        with stages.measure("bot"):
            bot = self.log.bot(query)
        try:
            if resolved is None:
                with stages.measure("history"):
                    resolved = self.dialogue.resolve(query, deadline)
            searched = self.search.search(query, resolved, bot, deadline, stages)
            with stages.measure("answer"):
                answer = self.answerer.answer(
                    resolved.text,
                    searched.retrieval,
                    quoted_for=_quoted_for(resolved, searched),
                    model=query.model,
                    deadline=deadline,
                )
            with stages.measure("links"):
                answer, unlinked = self._linked(query, answer)
            with stages.measure("history"):
                kept = self.dialogue.remember(query, answer.text)
        except BotForgeError as error:
            self.log.remember(self._record(query, QueryStatus.FAILED, start, stages, error_code=error.code))
            raise
        degraded = {**resolved.degraded, **searched.degraded, **answer.degraded, **unlinked}
        degraded |= {} if kept else {"conversation": "database_unavailable"}
        record = replace(
            self._record(query, QueryStatus.ABSTAINED if answer.abstained else QueryStatus.ANSWERED, start, stages),
            best_relevance=searched.retrieval.best_relevance,
            sources=len(answer.sources),
            model=answer.model,
            usage=resolved.usage + searched.usage + answer.usage,
            degraded=degraded,
        )
        if not self.log.remember(record):
            degraded = {**degraded, "statistics": "database_unavailable"}
        return QueryResult(answer, searched.retrieval, record, searched.text, degraded)

    def _linked(self, query: Query, answer: Answer) -> tuple[Answer, Mapping[str, str]]:
        linked, unlinked = self.links.linked(query, (*answer.sources, *answer.retrieved))
        cited = len(answer.sources)
        return replace(answer, sources=linked[:cited], retrieved=linked[cited:]), unlinked

    def _record(
        self, query: Query, status: QueryStatus, start: float, stages: Stages, *, error_code: str | None = None
    ) -> QueryRecord:
        return QueryRecord(
            query=query,
            intent=Intent.INFORMATION_RETRIEVAL,
            processing_type=ProcessingType.RAG,
            status=status,
            latency_ms=(self.clock.monotonic() - start) * 1000,
            stage_ms=dict(stages.milliseconds),
            error_code=error_code,
        )


def _quoted_for(resolved: Resolved, searched: Searched) -> str:
    """What sentences are to answer: never the question before a follow-up, which has had its answer."""
    if resolved.message is not None and searched.text == resolved.text:
        return resolved.message
    return searched.text
