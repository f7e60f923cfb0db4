"""Acting without a model on a developer's machine: one tool, once, with what the message says word for word."""

from uuid import uuid4

import pytest
from tests.fakes.clock import FixedClock
from tests.fakes.embedding import BagOfWordsEmbedder
from tests.fakes.tools import (
    BOT,
    USER,
    InMemoryExecutions,
    InMemoryToolServers,
    NothingToMend,
    ScriptedTransport,
    a_tool,
    result,
)

from botforge.domain.agent import AgentAnswer
from botforge.domain.deadline import Deadline
from botforge.domain.query import Query
from botforge.domain.tool import ServerTool
from botforge.domain.tool_text import tool_text
from botforge.services.agent import NO_TOOLS
from botforge.services.single_step import NO_TOOL_FITS, SingleStep
from botforge.services.stages import Stages
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_results import ResultCache
from botforge.services.tool_selection import ToolSelector


def ask(text: str, *tools: ServerTool, transport: ScriptedTransport) -> AgentAnswer:
    embedder, clock, unforeseen = BagOfWordsEmbedder(), FixedClock(), list[BaseException]()
    vectors = [embedded.vector for embedded in embedder.embed([tool_text(tool.tool.definition) for tool in tools])]
    servers = InMemoryToolServers(list(zip(tools, vectors, strict=True)))
    executor = ToolExecutor(
        InMemoryExecutions(), transport, lambda _: None, ResultCache(None), clock, lambda _: None, unforeseen.append
    )
    step = SingleStep(ToolSelector(embedder, servers), servers, executor, NothingToMend(), unforeseen.append)
    query = Query(uuid4(), USER, BOT, "client", text)
    answer = step.run(query, Deadline.after(25, clock.monotonic), Stages())
    assert unforeseen == []
    return answer


def test_the_nearest_tool_is_called_once_and_the_answer_is_marked() -> None:
    transport = ScriptedTransport([result('{"sum":3}', {"sum": 3})])

    answer = ask("Add two numbers: 1 and 2", a_tool(), a_tool("pay", description="Pay."), transport=transport)

    assert answer.text == "add: 3\n\nExecuted: add (Calculator)."
    assert [dict(call.arguments) for call in transport.calls] == [{"a": 1, "b": 2}]
    assert (answer.degraded, answer.model) == ({"llm": "llm_not_configured"}, None)


def test_what_the_message_does_not_give_is_asked_for_and_nothing_is_called() -> None:
    transport = ScriptedTransport()

    answer = ask("Add two numbers, the first is 1", a_tool(), transport=transport)

    assert "needs more than the message says: b." in answer.text
    assert answer.text.endswith("Nothing was executed: no tool was called.")
    assert transport.calls == []


@pytest.mark.parametrize(("tools", "said"), [((), NO_TOOLS), ((a_tool(),), NO_TOOL_FITS)])
def test_no_tool_or_none_that_is_near_is_said_and_nothing_is_called(tools: tuple[ServerTool, ...], said: str) -> None:
    transport = ScriptedTransport()

    answer = ask("Quantum entanglement", *tools, transport=transport)

    assert answer.text.startswith(said)
    assert (answer.abstained, transport.calls) == (True, [])


def test_a_call_that_fails_is_told_as_failed() -> None:
    transport = ScriptedTransport([result("out of paper", is_error=True)])

    answer = ask("Add two numbers: 1 and 2", a_tool(), transport=transport)

    assert "Failed: add (Calculator): out of paper" in answer.text
