"""Acting without a language model, on a developer's own machine: one tool, chosen by similarity, called once.

It never guesses: arguments come word for word from the message, and what is missing is asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from botforge.domain.agent import MAX_TOOLS, AgentAnswer
from botforge.domain.agent_trace import Event, reasoning, tools_used, with_evidence
from botforge.domain.argument_filling import Filled, fill
from botforge.domain.clipping import clipped
from botforge.domain.deadline import Deadline
from botforge.domain.json_values import canonical
from botforge.domain.query import Query
from botforge.domain.tool import ServerTool
from botforge.domain.tool_use import ToolUse
from botforge.ports.arguments import ArgumentChecker
from botforge.ports.chat import ToolRequest
from botforge.ports.repositories import CallableTools
from botforge.services.agent import NO_TOOLS
from botforge.services.stages import Stages
from botforge.services.tool_calls import BuiltIn, ToolCalls
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_selection import Selection, ToolSelector

_LEAST_SIMILARITY = 0.25  # below it the nearest tool is about something else
_TOLD_TOKENS = 1_000
_WITHOUT = {"llm": "llm_not_configured"}
NO_TOOL_FITS = "No language model is configured, and no tool is near enough to the message to be called without one."


@dataclass(frozen=True, slots=True)
class SingleStep:
    """Stands in for Agent where a development stack has no key; every answer is marked degraded."""

    selector: ToolSelector
    servers: CallableTools
    executor: ToolExecutor
    checker: ArgumentChecker
    on_unforeseen: Callable[[BaseException], None]

    def run(
        self, query: Query, deadline: Deadline, stages: Stages, *, built_ins: Sequence[BuiltIn] = ()
    ) -> AgentAnswer:
        """Call the one tool that the message is about, if it gives all that the tool needs."""
        del built_ins  # nobody is here to choose between tools and documents
        with stages.measure("select"):
            selection = self.selector.select(query.user_id, query.bot_id, query.text, limit=MAX_TOOLS)
            withheld = tuple(self.servers.withheld(query.user_id, query.bot_id))
        if not selection.tools:
            return _answer(NO_TOOLS, selection, (), withheld, end=NO_TOOLS, abstained=True)
        if selection.scores[0] < _LEAST_SIMILARITY:
            return _answer(NO_TOOL_FITS, selection, (), withheld, end=NO_TOOL_FITS, abstained=True)
        target = selection.tools[0]
        filled = fill(target.tool.definition.input_schema, query.text)
        if filled.missing:
            text = _asked_for(target, filled)
            return _answer(text, selection, (), withheld, end=text)
        with stages.measure("tools"):
            events = self._called(query, target, filled, deadline)
        end = "The nearest tool was called once, with what the message says word for word."
        return _answer(_told(events), selection, events, withheld, end=end)

    def _called(self, query: Query, target: ServerTool, filled: Filled, deadline: Deadline) -> list[Event]:
        name = target.tool.definition.name
        calls = ToolCalls(
            user_id=query.user_id,
            query_id=query.id,
            tools={name: target},
            built_ins={},
            executor=self.executor,
            checker=self.checker,
            deadline=deadline.less(min(1.0, deadline.remaining() / 10)),
            on_unforeseen=self.on_unforeseen,
        )
        _, events = calls.answer([ToolRequest("only", name, canonical(filled.arguments))])
        return events


def _answer(
    text: str,
    selection: Selection,
    events: Sequence[Event],
    withheld: tuple[str, ...],
    *,
    end: str,
    abstained: bool = False,
) -> AgentAnswer:
    uses = tools_used([events])
    offered = [tool.tool.definition.name for tool in selection.tools]
    return AgentAnswer(
        text=with_evidence(text, uses, withheld),
        tools_used=uses,
        reasoning=reasoning(offered, selection.callable_tools, [events] if events else [], end),
        rounds=int(bool(events)),
        withheld=withheld,
        abstained=abstained,
        degraded=dict(_WITHOUT),
    )


def _asked_for(target: ServerTool, filled: Filled) -> str:
    missing = ", ".join(filled.missing)
    return f"The tool {target.tool.definition.name} needs more than the message says: {missing}."


def _told(events: Sequence[Event]) -> str:
    for event in events:
        if isinstance(event, ToolUse) and event.succeeded and event.result is not None:
            return f"{event.tool_name}: {clipped(_plain(event.result.content, event.result.text), _TOLD_TOKENS)}"
    return "The call did not succeed."


def _plain(content: object, text: str) -> str:
    """A result of one value as that value."""
    members = cast("dict[str, Any]", content) if isinstance(content, dict) else {}
    values = list(members.values())
    return str(values[0]) if len(values) == 1 and isinstance(values[0], str | int | float) else text
