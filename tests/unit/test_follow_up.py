"""A follow-up is told from a question that stands alone."""

import pytest

from botforge.domain.follow_up import is_follow_up


@pytest.mark.parametrize(
    "text",
    [
        "Yes, B1", "No.", "And the fork?", "What about batteries?", "Und die Gabel?", "¿Y la horquilla?",
        "When was he born?", "How much does it weigh?", "What was the colour of its roof?", "Where did they settle?",
        "What happened after that?", "Where can this disease manifest?", "Which one is cheaper?", "Who else?",
        "How do I get there?", "Why?", "Price?", "How many days?", "Who is she?", "Tell me more", "为什么？", "Warum?",
    ],
)  # fmt: skip
def test_what_goes_on_points_back_or_says_little_is_a_follow_up(text: str) -> None:
    assert is_follow_up(text)


@pytest.mark.parametrize(
    "text",
    [
        "What is anaemia?",
        "Who are The Avengers?",
        "What did Melania Trump do before she was married?",
        "How many regions are there in California?",
        "Is there a fee for transfers abroad?",
        "Is it safe to eat raw eggs during a pregnancy?",
        "How long does it take to boil an egg?",
        "What is the name of the river that crosses Paris?",
        "Who was the former president of the company Nimbus?",
        "Which documents are needed for returns by customers?",
        "Was kostet eine Reparatur der Bremsen in der Werkstatt?",
        "黑豹队的防守丢了多少分？",
    ],
)
def test_a_question_that_names_what_it_is_about_stands_alone(text: str) -> None:
    assert not is_follow_up(text)
