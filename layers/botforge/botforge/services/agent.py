"""A message becomes tool calls and an answer: native tool calling, one loop, bounded in every direction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from botforge.domain.agent import MAX_ROUNDS, MAX_TOOLS, AgentAnswer
from botforge.domain.agent_prompting import ANSWER_NOW, SYSTEM, described
from botforge.domain.agent_trace import Event, reasoning, tools_used, with_evidence
from botforge.domain.aliases import accepted_name, aliases
from botforge.domain.answer import Usage
from botforge.domain.clipping import clipped
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.domain.json_values import read_object
from botforge.domain.query import Query
from botforge.domain.tool import ServerTool
from botforge.domain.tool_use import ToolUse
from botforge.ports.arguments import ArgumentChecker
from botforge.ports.chat import ChatModel, Completion, Message, ToolOffer, ToolRequest
from botforge.ports.repositories import CallableTools
from botforge.services.stages import Stages
from botforge.services.tool_calls import BuiltIn, ToolCalls
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_selection import Selection, ToolSelector

NO_TOOLS = "This bot has no tools that can be called now."

_REPLY_RESERVE_S = 1.0  # of the deadline: to tell what was done if the model does not
_ANSWER_SHARE = 0.25  # of the time, and _ANSWER_RESERVE_S at most: for the model's last words after the last call
_ANSWER_RESERVE_S = 6.0
_TOLD_TOKENS = 500  # of a result that is told without the model


@dataclass(frozen=True, slots=True)
class Agent:
    chat: ChatModel
    selector: ToolSelector
    servers: CallableTools
    executor: ToolExecutor
    checker: ArgumentChecker
    on_unforeseen: Callable[[BaseException], None]

    def run(
        self, query: Query, deadline: Deadline, stages: Stages, *, built_ins: Sequence[BuiltIn] = ()
    ) -> AgentAnswer:
        """Act for the user through the bot's tools; ``built_ins`` are offered beside them.

        Raises DatabaseUnavailable; and ChatModelUnavailable if the model fails before any tool was used: after that,
        what was done is told without it.
        """
        with stages.measure("select"):
            selection = self.selector.select(query.user_id, query.bot_id, query.text, limit=MAX_TOOLS)
            withheld = tuple(self.servers.withheld(query.user_id, query.bot_id))
        if not selection.tools and not built_ins:
            text = with_evidence(NO_TOOLS, (), withheld)
            return AgentAnswer(text, (), reasoning((), 0, (), NO_TOOLS), withheld=withheld, abstained=True)
        reserve = min(_ANSWER_RESERVE_S, _ANSWER_SHARE * deadline.remaining())
        own = {built_in.offer.name: built_in for built_in in built_ins}
        calls = ToolCalls(
            user_id=query.user_id,
            query_id=query.id,
            tools=aliases(selection.tools, reserved=own.keys()),
            built_ins=own,
            executor=self.executor,
            checker=self.checker,
            deadline=deadline.less(reserve),
            on_unforeseen=self.on_unforeseen,
        )
        conversation = _Conversation(self.chat, query, calls, deadline, stages)
        return conversation.held(selection, withheld)


class _Conversation:
    """The model and the tools in turn, until there is an answer."""

    def __init__(self, chat: ChatModel, query: Query, calls: ToolCalls, deadline: Deadline, stages: Stages) -> None:
        self._chat = chat
        self._query = query
        self._calls = calls
        self._deadline = deadline.less(min(_REPLY_RESERVE_S, _ANSWER_SHARE * deadline.remaining() / 4))
        self._stages = stages
        self._offers = _offers(calls.tools, calls.built_ins)
        self._messages = [Message("system", SYSTEM), Message("user", query.text)]
        self._rounds: list[list[Event]] = []
        self._usage = Usage()
        self._model: str | None = None

    def held(self, selection: Selection, withheld: tuple[str, ...]) -> AgentAnswer:
        degraded: dict[str, str] = {}
        try:
            text, end = self._turns()
        except ChatModelUnavailable as error:
            if not tools_used(self._rounds):
                raise
            degraded["llm"] = error.code
            text, end = _told_without_model(tools_used(self._rounds)), f"The model gave no answer ({error.code})."
        uses = tools_used(self._rounds)
        return AgentAnswer(
            text=with_evidence(text, uses, withheld),
            tools_used=uses,
            reasoning=reasoning(list(self._calls.tools), selection.callable_tools, self._rounds, end),
            rounds=len(self._rounds),
            withheld=withheld,
            model=self._model,
            usage=self._usage,
            degraded=degraded,
        )

    def _turns(self) -> tuple[str, str]:
        """The model's answer, and how it came to it."""
        while True:
            last = self._no_more_calls()
            if last and self._rounds:
                self._messages.append(Message("system", ANSWER_NOW))
            completion = self._complete(must_answer=bool(last))
            if last or not completion.tool_requests:
                text = completion.text or _told_without_model(tools_used(self._rounds))
                return text, f"{last or 'The model asked for no further call'}: it answered."
            requests = _told_apart(completion.tool_requests)
            self._messages.append(Message("assistant", completion.text, tool_requests=_repeated(requests)))
            with self._stages.measure("tools"):
                answers, events = self._calls.answer(requests)
            self._messages += answers
            self._rounds.append(events)

    def _no_more_calls(self) -> str | None:
        """Why the model must answer now, if it must."""
        if len(self._rounds) >= MAX_ROUNDS:
            return f"{MAX_ROUNDS} rounds of calls were made"
        if self._calls.stalled:
            return "The model asked only for what had been done"
        if self._calls.deadline.remaining() <= 0:
            return "No time was left for further calls"
        return None

    def _complete(self, *, must_answer: bool) -> Completion:
        with self._stages.measure("llm"):
            completion = self._chat.complete(
                self._messages,
                model=self._query.model,
                deadline=self._deadline,
                tools=self._offers,
                must_answer=must_answer,
            )
        self._model = completion.model
        self._usage = Usage(
            self._usage.prompt_tokens + completion.usage.prompt_tokens,
            self._usage.completion_tokens + completion.usage.completion_tokens,
        )
        return completion


def _offers(tools: Mapping[str, ServerTool], built_ins: Mapping[str, BuiltIn]) -> list[ToolOffer]:
    offered = [
        ToolOffer(alias, described(target), target.tool.definition.input_schema) for alias, target in tools.items()
    ]
    return [*offered, *(built_in.offer for built_in in built_ins.values())]


def _told_apart(requests: Sequence[ToolRequest]) -> list[ToolRequest]:
    """The requests with ids that differ: each answer must find its own."""
    seen: set[str] = set()
    made: list[ToolRequest] = []
    for number, request in enumerate(requests):
        unique = request.id if request.id not in seen else f"{request.id}-{number}"
        seen.add(unique)
        made.append(replace(request, id=unique))
    return made


def _repeated(requests: Sequence[ToolRequest]) -> tuple[ToolRequest, ...]:
    """The requests as the API takes them back: a name that it accepts, and arguments that are JSON."""
    return tuple(
        replace(request, name=accepted_name(request.name), arguments=_json_or_nothing(request.arguments))
        for request in requests
    )


def _json_or_nothing(arguments: str) -> str:
    try:
        read_object(arguments)
    except ValueError:
        return "{}"
    return arguments


def _told_without_model(uses: Sequence[ToolUse]) -> str:
    results = [
        f"{use.tool_name}: {clipped(use.result.text, _TOLD_TOKENS)}" for use in uses if use.succeeded and use.result
    ]
    return "\n".join(["The language model gave no answer. What the tools returned:", *results]) if results else ""
