"""The figures of routing, and the data that they are made of."""

import random
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from botforge.domain.routing import DecidedBy, Routing
from botforge_dev.evaluation.datasets import DataError, read_lines
from botforge_dev.evaluation.suites.routing import routed
from botforge_dev.routing.corpus import committed, with_bots
from botforge_dev.routing.drawing import drawn
from botforge_dev.routing.outcomes import Message, Outcome, accuracy_at, calibration_error, figures
from botforge_dev.routing.same_domain import write


def outcome(p_execution: float, *, acts: bool, source: str = "one", hard: bool = False) -> Outcome:
    return Outcome(Message("text", acts, source, hard, ()), Routing(p_execution, DecidedBy.ROUTER))


OUTCOMES = [
    outcome(0.95, acts=True),
    outcome(0.9, acts=True),
    outcome(0.1, acts=False),
    outcome(0.4, acts=True, hard=True),
]


def test_accuracy_counts_the_most_confident_share_first() -> None:
    assert figures(OUTCOMES)["accuracy"] == 0.75
    assert figures(OUTCOMES)["accuracy_hard"] == 0
    assert accuracy_at(OUTCOMES, 0.75) == 1
    assert accuracy_at(OUTCOMES, 1) == 0.75


def test_calibration_error_is_the_mean_gap_between_what_was_said_and_what_was_so() -> None:
    assert calibration_error([outcome(0.8, acts=True)] * 4 + [outcome(0.8, acts=False)]) == 0
    assert calibration_error([outcome(1.0, acts=False)] * 3) == 1


def test_pictures_hold_a_row_for_each_source_and_one_for_all() -> None:
    picture = drawn([*OUTCOMES, outcome(0.2, acts=False, source="two")])
    texts = [element.text for element in ET.fromstring(picture).iter() if element.text]  # noqa: S314 - our own
    assert [text for text in texts if "messages" in text] == ["all, 5 messages", "one, 4 messages", "two, 1 messages"]


def test_the_bots_of_one_domain_hold_all_its_tools_and_at_least_four_hundred_messages(tmp_path: Path) -> None:
    write(tmp_path)
    messages = read_lines(tmp_path / "test.jsonl")
    bots = {row["id"]: row["bot_tools"] for row in read_lines(tmp_path / "test.bot_tools.jsonl")}
    assert len(messages) >= 400
    assert len({message["text"].casefold() for message in messages}) == len(messages)
    for message in messages:
        assert {key.split(":")[1].split(".")[0] for key in bots[message["id"]]} == {message["source"]}
    assert sum(message["hard"] for message in messages) / len(messages) > 0.25


def test_what_is_tested_was_not_trained_on(tmp_path: Path) -> None:
    write(tmp_path)
    tested = {message["text"].casefold() for message in read_lines(tmp_path / "test.jsonl")}
    trained = {sentence.text.casefold() for sentence in committed().sentences}
    assert not tested & trained
    assert not {sentence.source for sentence in committed().sentences} & {
        "apibank", "sgd", "snips2017", "trec_cast", "webquestions",
    }  # fmt: skip


def test_a_bot_has_the_tool_that_a_sentence_needs() -> None:
    corpus = committed()
    acting = [sentence for sentence in corpus.sentences if sentence.tool and not sentence.bot][:50]
    for sentence, bot in zip(acting, with_bots(acting, list(corpus.tools), (8,), random.Random(1)), strict=True):
        assert sentence.tool in bot
        assert len(set(bot)) == 8


def test_data_that_lacks_something_is_said_to(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "tools.jsonl").write_text("")
    with pytest.raises(DataError, match="does not describe"):
        routed(tmp_path, "test", lambda _: None)
    with pytest.raises(DataError):
        routed(tmp_path, "none", lambda _: None)
