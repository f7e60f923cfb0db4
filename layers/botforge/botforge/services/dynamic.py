"""One endpoint for every message: decide what it needs, do that, and show why."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from botforge.domain.bot import Bot
from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError, ChatModelUnavailable
from botforge.domain.query import Intent, ProcessingType, Query, QueryRecord, QueryStatus
from botforge.domain.routing import DecidedBy, Routing
from botforge.domain.small_talk import SmallTalk, reply_to, small_talk
from botforge.ports.clock import Clock
from botforge.services.agent_query import AgentQueryService, AgentResult
from botforge.services.dialogue import Dialogue, Resolved
from botforge.services.document_search import DocumentSearch
from botforge.services.grounding import GroundingCheck
from botforge.services.looked_up import AnswerCheck, LookedUp
from botforge.services.query import QueryResult, QueryService
from botforge.services.query_log import QueryLog
from botforge.services.retrieval import Retriever
from botforge.services.routing import Router
from botforge.services.source_links import SourceLinks
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
    looked_up: LookedUp | None = None  # in the documents, by an agent that had them beside its tools
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def searched(self) -> str | None:
        """What the documents were searched for, a question a line; None if nobody looked into them."""
        if self.answered is not None:
            return self.answered.searched
        return "\n".join(self.looked_up.searched) or None if self.looked_up else None

    @property
    def intent(self) -> Intent:
        """What the message needs: as the router decided, or as the agent showed by what it did."""
        return self.record.intent if self.routing.decided_by is DecidedBy.AGENT else self.routing.intent


@dataclass(frozen=True, slots=True)
class DynamicQueryService:
    log: QueryLog
    dialogue: Dialogue
    router: Router
    retriever: Retriever
    answers: QueryService
    agent: AgentQueryService
    grounding: GroundingCheck
    links: SourceLinks
    agent_decides: bool  # a language model is there to choose between the tools and the documents
    clock: Clock

    def ask(self, query: Query, deadline: Deadline) -> DynamicResult:
        """Answer from the documents or act through the tools.

        A follow-up is resolved in its conversation before anything is decided; small talk needs no resolving, and is
        not kept in the conversation, where it would stand between a question and its follow-up.

        Raises NotFound for a bot that is not the user's, Conflict for one that is switched off, Unavailable when
        the database does not answer.
        """
        start = self.clock.monotonic()
        stages = Stages(self.clock.monotonic)
        bot = self.log.bot(query)
        kind = small_talk(query.text)
        if kind is not None:
            return self._small_talk(query, kind, start, stages)
        with stages.measure("history"):
            resolved = self.dialogue.resolve(query, deadline)
        with stages.measure("route"):
            routing = self.router.route(
                query.user_id,
                query.bot_id,
                resolved.text,
                best_passage=lambda: self._best_passage(query, resolved, deadline, stages),
            )
        if routing.is_uncertain() and self.agent_decides:
            result = self._agent_decides(query, resolved, bot, routing, deadline)
        elif routing.intent is Intent.EXECUTION:
            result = self._act(query, resolved, routing, deadline)
        else:
            result = self._answer(query, resolved, routing, deadline)
        return replace(result, record=self._timed(result.record, start, stages))

    def _answer(self, query: Query, resolved: Resolved, routing: Routing, deadline: Deadline) -> DynamicResult:
        answered = self.answers.ask(query, deadline, resolved)
        seen = replace(routing, best_passage=answered.retrieval.best_relevance)
        return DynamicResult(seen, answered.answer.text, answered.record, answered=answered, degraded=answered.degraded)

    def _act(self, query: Query, resolved: Resolved, routing: Routing, deadline: Deadline) -> DynamicResult:
        try:
            acted = self.agent.ask(query, deadline, resolved)
        except ChatModelUnavailable as error:
            # Nothing was called. What the documents say of it is still worth an answer, and that it is one is said.
            fallen_back = self._answer(query, resolved, routing, deadline)
            return replace(fallen_back, degraded={**fallen_back.degraded, "agent": error.code})
        return DynamicResult(routing, acted.answer.text, acted.record, acted=acted, degraded=acted.degraded)

    def _agent_decides(
        self, query: Query, resolved: Resolved, bot: Bot, routing: Routing, deadline: Deadline
    ) -> DynamicResult:
        search = DocumentSearch(self.retriever, query, bot, deadline, Stages(self.clock.monotonic))
        check = AnswerCheck(search, self.grounding)
        try:
            acted = self.agent.ask(query, deadline, resolved, built_ins=[search.built_in()], checked=check.checked)
        except ChatModelUnavailable as error:
            more_probable = self._answer(query, resolved, routing, deadline)
            return replace(more_probable, degraded={**more_probable.degraded, "agent": error.code})
        decided = replace(routing, decided_by=DecidedBy.AGENT)
        looked_up, unlinked = self._linked(query, check.looked_up)
        degraded = {**acted.degraded, **looked_up.degraded, **unlinked}
        record = replace(acted.record, sources=len(looked_up.sources))
        return DynamicResult(decided, acted.answer.text, record, acted=acted, looked_up=looked_up, degraded=degraded)

    def _linked(self, query: Query, looked_up: LookedUp) -> tuple[LookedUp, Mapping[str, str]]:
        linked, unlinked = self.links.linked(query, (*looked_up.sources, *looked_up.retrieved))
        cited = len(looked_up.sources)
        return replace(looked_up, sources=linked[:cited], retrieved=linked[cited:]), unlinked

    def _best_passage(self, query: Query, resolved: Resolved, deadline: Deadline, stages: Stages) -> float | None:
        """The relevance of the best passage; None if the documents cannot be searched, which the answer will say."""
        try:
            retrieval = self.retriever.retrieve(
                query.user_id,
                query.bot_id,
                resolved.text,
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

    def _small_talk(self, query: Query, kind: SmallTalk, start: float, stages: Stages) -> DynamicResult:
        routing = Routing(0.0, DecidedBy.SMALL_TALK, small_talk=kind)
        record = QueryRecord(
            query=query,
            intent=Intent.INFORMATION_RETRIEVAL,
            processing_type=ProcessingType.RAG,
            status=QueryStatus.ANSWERED,
            latency_ms=0.0,
        )
        record = self._timed(record, start, stages)
        degraded = {} if self.log.remember(record) else {"statistics": "database_unavailable"}
        return DynamicResult(routing, reply_to(kind), record, degraded=degraded)

    def _timed(self, record: QueryRecord, start: float, stages: Stages) -> QueryRecord:
        """The record with the whole request's time; the row in ``queries`` has that of the path alone."""
        return replace(
            record,
            latency_ms=(self.clock.monotonic() - start) * 1000,
            stage_ms={**stages.milliseconds, **record.stage_ms},
        )
