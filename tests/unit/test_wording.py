"""The form of a message in numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.wording import MAX_CHARACTERS, NAMES, wording


def features(text: str) -> set[str]:
    return {name for name, value in zip(NAMES, wording(text), strict=True) if value}


@pytest.mark.parametrize(
    ("text", "present"),
    [
        ("What is the refund policy?", {"starts_what", "policy", "question_mark"}),
        ("Please cancel my order #4411", {"starts_act", "acts_on_mine", "please", "identifier"}),
        ("Could you book me a table for 4 people?", {"asks_you", "asks_then_acts", "verb_me", "measured"}),
        ("I'd like to know how vaccines work.", {"wishes", "wants_to_know"}),
        ("I’d like to transfer $50", {"wishes_to_act", "money", "number"}),
        ("Tell me about the water cycle.", {"starts_tell", "tell_about"}),
        ("hey, how do I reset my router", {"starts_how", "how_to", "mine"}),
        ("Was ist 3 + 4?", {"arithmetic", "numbers"}),
    ],
)
def test_the_wording_is_seen(text: str, present: set[str]) -> None:
    assert present <= features(text)


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        ("the capital of Peru", {"starts_what", "mine", "number", "question_mark", "foreign"}),
        ("What did they build?", {"starts_act", "asks_you", "please", "wishes"}),
    ],
)
def test_what_is_not_said_is_not_seen(text: str, absent: set[str]) -> None:
    assert not absent & features(text)


@given(st.text(max_size=300))
def test_every_text_has_every_feature_within_bounds(text: str) -> None:
    values = wording(text)
    assert len(values) == len(NAMES)
    assert all(0 <= value <= 1 for value in values)


def test_of_a_very_long_message_the_beginning_counts() -> None:
    beginning = "Cancel my order. " * (MAX_CHARACTERS // 17 + 1)
    assert wording(beginning[:MAX_CHARACTERS] + " 12345 https://example.org") == wording(beginning[:MAX_CHARACTERS])
    assert "number" in features(beginning[: MAX_CHARACTERS - 6] + " 12345")
