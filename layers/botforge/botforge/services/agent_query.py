"""A message to a bot that acts: whose bot it is, what the agent did, and the row that remembers it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from botforge.domain.agent import AgentAnswer
from botforge.domain.deadline import Deadline
from botforge.domain.errors import BotForgeError, ChatModelUnavailable
from botforge.domain.query import Intent, ProcessingType, Query, QueryRecord, QueryStatus
from botforge.ports.clock import Clock
from botforge.services.dialogue import Dialogue, Resolved
from botforge.services.query_log import QueryLog
from botforge.services.stages import Stages
from botforge.services.tool_calls import BuiltIn


class Acting(Protocol):
    """Agent, or what stands in for it."""

    def run(
        self, query: Query, deadline: Deadline, stages: Stages, *, built_ins: Sequence[BuiltIn] = ()
    ) -> AgentAnswer: ...


@dataclass(frozen=True, slots=True)
class AgentResult:
    """An answer and the record of how it came about."""

    answer: AgentAnswer
    record: QueryRecord
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class AgentQueryService:
    log: QueryLog
    dialogue: Dialogue
    agent: Acting | None  # None: no LLM is configured, and this is no development stack
    clock: Clock

    def ask(
        self,
        query: Query,
        deadline: Deadline,
        resolved: Resolved | None = None,
        *,
        built_ins: Sequence[BuiltIn] = (),
        checked: Callable[[AgentAnswer], AgentAnswer] = lambda answer: answer,
    ) -> AgentResult:
        """Act for the user through the bot's tools.

        ``resolved``: the message as its conversation says, if that is known. ``checked`` is given the answer before
        anyone else is, and may change it.

        Raises NotFound for a bot that is not the user's, Conflict for one that is switched off, ChatModelUnavailable
        when no LLM decides (and nothing was called), Unavailable when the database does not answer.
        """
        start = self.clock.monotonic()
        stages = Stages(self.clock.monotonic)
        with stages.measure("bot"):
            self.log.bot(query)
        try:
            if resolved is None:
                with stages.measure("history"):
                    resolved = self.dialogue.resolve(query, deadline)
            answer = checked(self._acted(replace(query, text=resolved.text), deadline, stages, built_ins))
            with stages.measure("history"):
                kept = self.dialogue.remember(query, answer.text)
        except BotForgeError as error:
            self.log.remember(self._record(query, QueryStatus.FAILED, start, stages, error_code=error.code))
            raise
        status = QueryStatus.ABSTAINED if answer.abstained else QueryStatus.ANSWERED
        degraded = {**resolved.degraded, **answer.degraded}
        if not kept:
            degraded["conversation"] = "database_unavailable"
        record = self._record(query, status, start, stages, answer=answer)
        record = replace(record, usage=resolved.usage + answer.usage, degraded=dict(degraded))
        if built_ins and not answer.tools_used:
            record = replace(record, intent=Intent.INFORMATION_RETRIEVAL)  # it looked things up, and acted on nothing
        if not self.log.remember(record):
            degraded["statistics"] = "database_unavailable"
        return AgentResult(answer, record, degraded)

    def _acted(self, query: Query, deadline: Deadline, stages: Stages, built_ins: Sequence[BuiltIn]) -> AgentAnswer:
        if self.agent is None:
            raise ChatModelUnavailable(
                "No language model is configured, so nobody can decide which tool to call.",
                code="llm_not_configured",
                next_step="Configure an LLM (OPENAI_SECRET_ARN), or ask POST /vector/query, which needs none.",
            )
        return self.agent.run(query, deadline, stages, built_ins=built_ins)

    def _record(
        self,
        query: Query,
        status: QueryStatus,
        start: float,
        stages: Stages,
        *,
        answer: AgentAnswer | None = None,
        error_code: str | None = None,
    ) -> QueryRecord:
        told = answer or AgentAnswer("", (), "")
        return QueryRecord(
            query=query,
            intent=Intent.EXECUTION,
            processing_type=ProcessingType.AGENT,
            status=status,
            latency_ms=(self.clock.monotonic() - start) * 1000,
            stage_ms=dict(stages.milliseconds),
            model=told.model,
            usage=told.usage,
            degraded=told.degraded,
            error_code=error_code,
        )
