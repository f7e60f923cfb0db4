"""What the suites make of data and of replies, without a product."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from botforge.adapters.extract.html import read
from botforge_dev.evaluation.__main__ import lines
from botforge_dev.evaluation.datasets import DataError, LabelledPassage, LabelledQuestion, question_sets
from botforge_dev.evaluation.product import Document, ProductError, distinct
from botforge_dev.evaluation.suites import abstention
from botforge_dev.evaluation.suites.files import fold, judge, summary
from botforge_dev.evaluation.suites.pages import as_document
from botforge_dev.evaluation.suites.retrieval import holds_answer


def write(file: Path, *rows: Mapping[str, object]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def manifest_row(expected: str, *must: str, forbidden: tuple[str, ...] = ()) -> dict[str, object]:
    return {
        "file": "dev/a.pdf",
        "format": "pdf",
        "expected": expected,
        "must_contain": list(must),
        "must_not_contain": list(forbidden),
    }


def test_a_sets_passages_are_those_of_its_split_or_else_those_of_all_splits(tmp_path: Path) -> None:
    question = {"id": "q", "question": "Why?", "gold_passage_ids": ["p"]}
    for name in ("own", "shared", "translated"):
        write(tmp_path / f"{name}.dev.questions.jsonl", question)
    write(tmp_path / "own.dev.passages.jsonl", {"id": "p", "title": "T", "text": "of the split"})
    write(tmp_path / "own.passages.jsonl", {"id": "p", "text": "of all"})
    write(tmp_path / "shared.passages.jsonl", {"id": "p", "text": "of all\u2028splits"})
    sets = question_sets(tmp_path, "dev")
    assert [(data.name, data.passages[0].text) for data in sets] == [
        ("own", "of the split"),
        ("shared", "of all\u2028splits"),
    ]
    assert sets[0].questions[0].gold == {"p"}


def test_a_folder_without_the_split_is_refused_with_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"sealed\.questions\.jsonl"):
        question_sets(tmp_path, "sealed")


def test_a_passage_becomes_a_page_that_reads_as_the_passage() -> None:
    passage = LabelledPassage("a/b?c", "Costs & <benefits>", "One & two\nlines.\n\nA <b>second</b> paragraph.")
    document = as_document(passage, 7)
    extracted = read(document.body)
    assert document.filename == "000007.html"
    assert document.content_type == "text/html"
    assert extracted.title == "Costs & <benefits>"
    assert [block.text for block in extracted.blocks] == [
        "Costs & <benefits>",
        "One & two lines.",
        "A <b>second</b> paragraph.",
    ]


def test_phrases_are_compared_without_regard_to_form_direction_and_white_space() -> None:
    assert fold("ﬁne\u00adtuned\u200f \n\t x") == "finetuned x"
    outcome = judge(manifest_row("text", "ﬁne  print", "absent"), "indexed", "the fine\nprint")
    assert (outcome.found, outcome.phrases, outcome.as_expected) == (1, 2, True)


@pytest.mark.parametrize(
    ("expected", "became", "right"),
    [
        ("text", "indexed", True),
        ("text", "corrupt", False),
        ("needs_password", "encrypted", True),
        ("needs_password", "corrupt", False),
        ("error", "content_mismatch", True),
        ("error", "indexed", False),
        ("error", "retries_exhausted", False),
        ("empty", "no_text_layer", True),
        ("empty", "indexed", False),
        ("must_be_bounded", "too_complex", True),
        ("must_be_bounded", "worker_lost", False),
        ("text_or_error", "worker_lost", False),
        ("unsupported", "unsupported_type", True),
    ],
)
def test_a_file_must_end_as_its_row_says_and_a_crash_is_no_clean_error(expected: str, became: str, right: bool) -> None:
    assert judge(manifest_row(expected), became, "").as_expected is right


def test_a_phrase_that_must_not_be_read_spoils_a_file() -> None:
    outcome = judge(manifest_row("text", forbidden=("deleted words",)), "indexed", "some deleted words here")
    assert not outcome.as_expected
    assert outcome.forbidden == ("deleted words",)


def test_an_unknown_expectation_is_no_figure() -> None:
    with pytest.raises(DataError, match="'perhaps'"):
        judge(manifest_row("perhaps"), "indexed", "")


def test_shares_count_files_and_phrases_apart() -> None:
    outcomes = [
        judge(manifest_row("text", "one", "two"), "indexed", "one"),
        judge(manifest_row("error"), "indexed", ""),
    ]
    assert summary(outcomes) == {"files": 2, "as_expected": 0.5, "phrases": 2, "phrases_found": 0.5}
    assert summary(outcomes[1:])["phrases_found"] is None


def test_two_documents_of_one_name_would_replace_each_other_and_are_refused() -> None:
    one, other = Document("a.txt", b"one"), Document("a.txt", b"other")
    assert distinct([one]) == [one]
    with pytest.raises(ProductError, match=r"a\.txt"):
        distinct([one, other])


def test_figures_for_people_are_an_outline() -> None:
    assert lines({"a": 1, "b": {"c": 0.5}, "d": [{"e": 2}]}) == ["a: 1", "b", "  c: 0.5", "d", '  {"e": 2}']


def test_an_answer_is_held_by_the_passage_that_covers_its_very_characters() -> None:
    passage = LabelledPassage("d", "Title", "It took five days.\n\nLater it took  five days again.")
    question = LabelledQuestion("q", "?", frozenset({"d"}), ("five days",), passage.text.rindex("five"))
    assert holds_answer("Later it took five days again.", question, passage)
    assert holds_answer("Title\n\nIt took five days.\n\nLater it took five days again.", question, passage)
    assert not holds_answer("It took five days.", question, passage), "the same words elsewhere do not count"
    assert not holds_answer("Later it took five", question, passage)
    assert not holds_answer("five days of another document", question, passage)


def test_abstention_is_pooled_over_unrelated_sets_and_told_for_each_pair() -> None:
    own = {"covid_a": [True, True], "covid_b": [True, False], "wiki": [True] * 4}
    foreign = {
        ("covid_a", "covid_b"): [True, True],
        ("covid_b", "covid_a"): [True, True],
        ("covid_a", "wiki"): [False, False],
        ("covid_b", "wiki"): [False, True],
        ("wiki", "covid_a"): [False, False],
        ("wiki", "covid_b"): [False, False],
    }
    figures = abstention.summary(own, foreign)
    assert figures["answered_when_answerable"] == 0.875
    assert figures["abstained_when_not"] == 0.875
    assert figures["questions"] == {"answerable": 8, "not": 8}
    assert figures["sets"]["covid_b"] == {"answered_when_answerable": 0.5, "abstained_when_not": 0.5}
    assert figures["pairs"]["covid_a asked of covid_b"] == {"abstained": 0.0, "related": True}
    assert figures["pairs"]["wiki asked of covid_a"] == {"abstained": 1.0, "related": False}
