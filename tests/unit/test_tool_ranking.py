"""Which tools a message is about: its meaning, the words they share, and a fair share for each thing it asks for."""

from uuid import uuid4

import pytest
from tests.fakes.embedding import BagOfWordsEmbedder
from tests.fakes.tools import BOT, USER, InMemoryToolServers, a_server, a_tool

from botforge.domain.clauses import MAX_CLAUSES, clauses
from botforge.domain.ids import UserId
from botforge.domain.tool import ServerTool
from botforge.domain.tool_ranking import ranked
from botforge.domain.tool_text import tool_text
from botforge.services.tool_selection import ToolSelector


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Add 1 and 2.", []),
        ("", []),
        ("Find a route to Rome. Then book a hotel there.", ["Find a route to Rome.", "book a hotel there."]),
        (
            "Tell me the weather in Paris, and then convert 5 miles to km",
            ["Tell me the weather in Paris", "convert 5 miles to km"],
        ),
        ("Firstly, find a good recipe. Secondly, what is the time in Tokyo?", None),
    ],
)
def test_a_message_falls_into_the_things_it_asks_for(text: str, parts: list[str] | None) -> None:
    found = clauses(text)

    if parts is None:
        assert found == ["find a good recipe.", "what is the time in Tokyo?"]
    else:
        assert found == parts


def test_the_number_of_clauses_is_bounded() -> None:
    assert len(clauses("Please add one more number. " * 500)) == MAX_CLAUSES


def test_words_that_a_tool_shares_with_the_message_count_beside_its_similarity() -> None:
    named = a_tool("exchange_rate", description="Rates.")
    other = a_tool("currency_news", description="News.")

    first, _ = ranked(["What is the exchange rate of the yen?"], [(other, [0.5]), (named, [0.45])], limit=2)

    assert first.target is named
    assert first.cosine == 0.45


def test_every_thing_that_a_message_asks_for_gets_its_share_of_the_places() -> None:
    loud = [(a_tool(f"alpha_{number}", description="x"), [0.9, 0.8 - number / 100, 0.1]) for number in range(9)]
    quiet = (a_tool("omega", description="y"), [0.1, 0.1, 0.6])

    chosen = ranked(["all of it", "the first", "the second"], [*loud, quiet], limit=8)

    assert "omega" in [one.target.tool.definition.name for one in chosen]


def test_no_candidate_and_no_word_is_no_error() -> None:
    assert ranked(["?"], [], limit=8) == []
    assert len(ranked(["?"], [(a_tool(), [0.3])], limit=8)) == 1


def many(number: int) -> list[ServerTool]:
    return [
        a_tool(f"tool_{place}", server=a_server(f"Server {place}"), description="Filler.") for place in range(number)
    ]


def registry(*tools: ServerTool) -> InMemoryToolServers:
    embedder = BagOfWordsEmbedder()
    return InMemoryToolServers([(tool, embedder.embed([tool_text(tool.tool.definition)])[0].vector) for tool in tools])


def test_of_many_tools_the_few_that_fit_are_chosen_and_all_are_counted() -> None:
    wanted = a_tool("calculate_tax", description="Calculate a tax on an income.")
    selector = ToolSelector(BagOfWordsEmbedder(), registry(*many(60), wanted))

    selection = selector.select(USER, BOT, "Calculate the tax on an income of 5", limit=8)

    assert selection.tools[0].tool == wanted.tool
    assert (len(selection.tools), selection.callable_tools) == (8, 61)


def test_a_bot_with_few_tools_is_offered_all_of_them_whatever_is_asked() -> None:
    selection = ToolSelector(BagOfWordsEmbedder(), registry(*many(5))).select(USER, BOT, "Good morning", limit=8)

    assert (len(selection.tools), selection.callable_tools) == (5, 5)


def test_another_tenants_tools_are_never_chosen() -> None:
    selector = ToolSelector(BagOfWordsEmbedder(), registry(*many(5)))

    assert selector.select(UserId(uuid4()), BOT, "tool 1", limit=8).tools == ()
