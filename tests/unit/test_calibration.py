"""The arithmetic behind the constants of ranking and relevance."""

import math
import random
from pathlib import Path

import pytest

from botforge.domain.chunk import Chunk
from botforge_dev.calibration.chunk_sizes import answer_span, locate
from botforge_dev.calibration.logistic import calibration_error, fit
from botforge_dev.calibration.samples import Found, Sample, load, save
from botforge_dev.calibration.study import best_of, candidates_of, foreign, trained
from botforge_dev.evaluation.datasets import LabelledPassage, LabelledQuestion


def test_regression_finds_the_weights_that_made_the_labels() -> None:
    draw = random.Random(7)
    features = [(draw.random(), draw.random()) for _ in range(20_000)]
    labels = [draw.random() < 1 / (1 + math.exp(-(-2 + 3 * a + 1 * b))) for a, b in features]
    assert fit(features, labels, [1.0] * len(labels)) == pytest.approx([-2, 3, 1], abs=0.2)


def test_a_sample_counts_by_its_weight() -> None:
    (bias,) = fit([()] * 2, [True, False], [3.0, 1.0])
    assert 1 / (1 + math.exp(-bias)) == pytest.approx(0.75, abs=0.001)


@pytest.mark.parametrize(
    ("predicted", "labels", "error"),
    [
        ([0.25] * 4, [True, False, False, False], 0.0),
        ([0.95] * 4, [True, False, False, False], 0.7),
        ([0.05, 0.05, 1.0, 1.0], [False, False, True, False], (2 * 0.05 + 2 * 0.5) / 4),
        ([], [], 0.0),
    ],
)
def test_calibration_error_is_the_mean_gap_between_told_and_true(
    predicted: list[float], labels: list[bool], error: float
) -> None:
    assert calibration_error(predicted, labels) == pytest.approx(error)


def test_samples_come_back_from_their_file_as_they_were(tmp_path: Path) -> None:
    samples = [Sample("a", "b", None, (Found("p\u2028q", 0.5, 0.25, None, 0.6), Found("r", None, 1.0, 1, None)))]
    save(samples, tmp_path / "samples.jsonl")
    assert load(tmp_path / "samples.jsonl") == samples


def test_the_best_passage_of_a_sample_is_the_one_that_the_product_puts_first() -> None:
    sample = Sample("a", "a", "gold", (Found("other", 0.5, 0.0, None, 0.55), Found("gold", None, 0.9, 1, 0.6)))
    best = best_of(sample)
    assert (best.right, best.cosine, best.sentence, best.coverage) == (True, 0.5, 0.6, 0.9)
    assert [one.path for one in candidates_of(sample, dense=False)] == ["gold"]
    assert not best_of(Sample("a", "b", None, ())).right


def test_sets_about_one_subject_are_not_taken_to_be_foreign_to_each_other() -> None:
    assert foreign(Sample("xquad_en", "pubmedqa", None, ()))
    assert not foreign(Sample("covid_faq", "covidqa_longdoc", None, ()))
    assert not foreign(Sample("xquad_en", "xquad_en", "gold", ()))
    assert not foreign(Sample("xquad_en", "other", None, ()))


def test_every_set_weighs_the_same_however_many_questions_it_has() -> None:
    def sample(name: str, cosine: float, *, right: bool) -> Sample:
        asked_of, gold = (name, "p") if right else ("elsewhere", None)
        return Sample(name, asked_of, gold, (Found("p", cosine, 0.5, 1, None),))

    few = [sample("few", 0.8, right=True), sample("few", 0.2, right=False)]
    many = [sample("many", 0.7, right=True), sample("many", 0.3, right=False)] * 50
    more = [sample("many", 0.7, right=True), sample("many", 0.3, right=False)] * 500
    scaled = [trained([best_of(one) for one in few + rest]) for rest in (many, more)]
    centre = [-(weights.bias + 0.5 * weights.coverage) / (weights.cosine + weights.sentence) for weights in scaled]
    assert centre == pytest.approx([0.5, 0.5], abs=0.02)


def test_chunks_are_found_in_their_document_whatever_became_of_white_space() -> None:
    document = LabelledPassage("d", None, "One two.\n\nThree  four.\n\nFive.")
    first, second = locate(document, [Chunk(0, "One two.\n\nThree four."), Chunk(1, "Three four.\n\nFive.")])
    question = LabelledQuestion("q", "?", frozenset({"d"}), ("four",), document.text.index("four"))
    start, end = answer_span(question, document)
    assert (start, end) == (len("Onetwo.Three"), len("Onetwo.Threefour"))
    assert all(chunk.start <= start and end <= chunk.end for chunk in (first, second))
    with pytest.raises(ValueError, match="does not lie in it"):
        locate(document, [Chunk(0, "Six.")])
