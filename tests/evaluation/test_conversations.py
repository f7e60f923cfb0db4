"""The rules on which conversations and languages rest, held to the figures of docs/retrieval.md."""

from pathlib import Path

import pytest

from botforge.domain.follow_up import is_follow_up
from botforge.domain.language import language
from botforge_dev.calibration.followups import cases
from botforge_dev.evaluation.datasets import question_sets, read_lines

_TOLERANCE = 0.01


@pytest.mark.parametrize(
    ("name", "taken"), [("covid_faq", 0.039), ("covidqa_longdoc", 0.067), ("pubmedqa", 0.066), ("xquad_en", 0.038)]
)
def test_few_questions_that_stand_alone_are_taken_for_follow_ups(shared_data: Path, name: str, taken: float) -> None:
    (data,) = [one for one in question_sets(shared_data / "rag", "dev") if one.name == name]
    found = sum(is_follow_up(question.text) for question in data.questions) / len(data.questions)
    assert found <= taken + _TOLERANCE


@pytest.mark.parametrize(
    ("name", "kind", "joined"),
    [
        ("xquad_en", "pointing", 0.813),
        ("xquad_en", "as written", 0.765),
        ("covidqa_longdoc", "pointing", 0.911),
        ("covidqa_longdoc", "as written", 0.636),
    ],
)
def test_most_follow_ups_are_recognised(shared_data: Path, name: str, kind: str, joined: float) -> None:
    (data,) = [one for one in question_sets(shared_data / "rag", "dev") if one.name == name]
    messages = [case.message for case in cases(data) if case.kind == kind]
    assert sum(map(is_follow_up, messages)) / len(messages) >= joined - _TOLERANCE


@pytest.mark.parametrize(
    ("code", "told"), [("en", 0.970), ("de", 0.908), ("es", 0.949), ("ar", 1.0), ("zh", 0.992), ("hi", 1.0)]
)
def test_the_language_of_most_questions_is_told_and_hardly_ever_as_another(
    shared_data: Path, code: str, told: float
) -> None:
    questions = [row["question"] for row in read_lines(shared_data / "rag" / f"xquad_{code}.dev.questions.jsonl")]
    found = [language(question) for question in questions]
    assert found.count(code) / len(found) >= told - _TOLERANCE
    assert sum(one not in {code, None} for one in found) / len(found) <= _TOLERANCE
