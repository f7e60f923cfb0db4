"""One endpoint for every message: decide what it needs, do that, and show why."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from botforge.domain.answer import Source
from botforge.domain.bot import Bot
from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError, ChatModelUnavailable
from botforge.domain.query import Intent, ProcessingType, Query, QueryRecord, QueryStatus
from botforge.domain.routing import DecidedBy, Routing
from botforge.domain.small_talk import reply_to
from botforge.ports.clock import Clock
from botforge.services.agent_query import AgentQueryService, AgentResult
from botforge.services.document_search import DocumentSearch
from botforge.services.query import QueryResult, QueryService
from botforge.services.query_log import QueryLog
from botforge.services.retrieval import Retriever
from botforge.services.routing import Router
from botforge.services.stages import Stages

_SEARCH_SHARE = 0.25  # of the time left: a search for evidence must leave time for what is then done


@dataclass(frozen=True, slots=True)
class DynamicResult:
    """What was done and why. ``answered`` or ``acted`` holds the details; neither does for small talk."""

    routing: Routing
    text: str
    record: QueryRecord
    answered: QueryResult | None = None
    acted: AgentResult | None = None
    searched: tuple[Source, ...] = ()  # passages that the agent looked up
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def intent(self) -> Intent:
        """What the message needs: as the router decided, or as the agent showed by what it did."""
        return self.record.intent if self.routing.decided_by is DecidedBy.AGENT else self.routing.intent


@dataclass(frozen=True, slots=True)
class DynamicQueryService:
    log: QueryLog
    router: Router
    retriever: Retriever
    answers: QueryService
    agent: AgentQueryService
    agent_decides: bool  # a language model is there to choose between the tools and the documents
    clock: Clock

    def ask(self, query: Query, deadline: Deadline) -> DynamicResult:
        """Answer from the documents or act through the tools.

        Raises NotFound for a bot that is not the user's, Conflict for one that is switched off, Unavailable when
        the database does not answer.
        """
        start = self.clock.monotonic()
        stages = Stages(self.clock.monotonic)
        bot = self.log.bot(query)
        with stages.measure("route"):
            routing = self.router.route(
                query.user_id,
                query.bot_id,
                query.text,
                best_passage=lambda: self._best_passage(query, deadline, stages),
            )
        if routing.small_talk is not None:
            return self._small_talk(query, routing, start, stages)
        if routing.is_uncertain() and self.agent_decides:
            result = self._agent_decides(query, bot, routing, deadline)
        elif routing.intent is Intent.EXECUTION:
            result = self._act(query, routing, deadline)
        else:
            result = self._answer(query, routing, deadline)
        return replace(result, record=self._timed(result.record, start, stages))

    def _answer(self, query: Query, routing: Routing, deadline: Deadline) -> DynamicResult:
        answered = self.answers.ask(query, deadline)
        seen = replace(routing, best_passage=answered.retrieval.best_relevance)
        return DynamicResult(seen, answered.answer.text, answered.record, answered=answered, degraded=answered.degraded)

    def _act(self, query: Query, routing: Routing, deadline: Deadline) -> DynamicResult:
        try:
            acted = self.agent.ask(query, deadline)
        except ChatModelUnavailable as error:
            # Nothing was called. What the documents say of it is still worth an answer, and that it is one is said.
            fallen_back = self._answer(query, routing, deadline)
            return replace(fallen_back, degraded={**fallen_back.degraded, "agent": error.code})
        return DynamicResult(routing, acted.answer.text, acted.record, acted=acted, degraded=acted.degraded)

    def _agent_decides(self, query: Query, bot: Bot, routing: Routing, deadline: Deadline) -> DynamicResult:
        search = DocumentSearch(self.retriever, query, bot, deadline, Stages(self.clock.monotonic))
        try:
            acted = self.agent.ask(query, deadline, built_ins=[search.built_in()])
        except ChatModelUnavailable as error:
            more_probable = self._answer(query, routing, deadline)
            return replace(more_probable, degraded={**more_probable.degraded, "agent": error.code})
        decided = replace(routing, decided_by=DecidedBy.AGENT)
        return DynamicResult(
            decided, acted.answer.text, acted.record, acted=acted, searched=tuple(search.found), degraded=acted.degraded
        )

    def _best_passage(self, query: Query, deadline: Deadline, stages: Stages) -> float | None:
        """The relevance of the best passage; None if the documents cannot be searched, which the answer will say."""
        try:
            retrieval = self.retriever.retrieve(
                query.user_id,
                query.bot_id,
                query.text,
                max_chunks=1,
                threshold=0.0,
                document_ids=query.document_ids,
                deadline=deadline.less(deadline.remaining() * (1 - _SEARCH_SHARE)),
                stages=stages,
            )
        except BotForgeError:
            deadline.check()
            return None
        return retrieval.best_relevance if retrieval.candidates else None

    def _small_talk(self, query: Query, routing: Routing, start: float, stages: Stages) -> DynamicResult:
        assert routing.small_talk is not None, "the caller has looked"  # noqa: S101
        record = QueryRecord(
            query=query,
            intent=Intent.INFORMATION_RETRIEVAL,
            processing_type=ProcessingType.RAG,
            status=QueryStatus.ANSWERED,
            latency_ms=0.0,
        )
        record = self._timed(record, start, stages)
        degraded = {} if self.log.remember(record) else {"statistics": "database_unavailable"}
        return DynamicResult(routing, reply_to(routing.small_talk), record, degraded=degraded)

    def _timed(self, record: QueryRecord, start: float, stages: Stages) -> QueryRecord:
        """The record with the whole request's time; the row in ``queries`` has that of the path alone."""
        return replace(
            record,
            latency_ms=(self.clock.monotonic() - start) * 1000,
            stage_ms={**stages.milliseconds, **record.stage_ms},
        )
