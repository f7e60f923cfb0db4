"""One ranking out of two searches, and how surely each passage helps."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botforge.domain.bot import DEFAULT_SIMILARITY_THRESHOLD
from botforge.domain.chunk import Candidate, Hit
from botforge.domain.fusion import cosine_floor, fuse, fused_score
from botforge.domain.ids import ChunkRef, DocumentId
from botforge.domain.relevance import relevance

COSINES = st.floats(-1, 1) | st.none()
COVERAGES = st.floats(0, 1)


def candidate(cosine: float | None = None, coverage: float = 0.0, *sentences: float, number: int = 1) -> Candidate:
    ref = ChunkRef(DocumentId(UUID(int=number)), 1, 0)
    return Candidate(ref, f"{number}.txt", "text", None, (), None, cosine, 1 if coverage else None, coverage, sentences)


CANDIDATES = st.lists(st.tuples(COSINES, COVERAGES), max_size=12).map(
    lambda rows: [candidate(cosine, coverage, number=number) for number, (cosine, coverage) in enumerate(rows)]
)


def test_words_decide_between_passages_of_nearly_equal_meaning() -> None:
    near = candidate(0.62, 0.1, number=1)
    said = candidate(0.60, 0.9, number=2)
    assert fuse([near, said], floor=0.1) == [said, near]


def test_meaning_decides_where_a_few_words_are_shared_by_chance() -> None:
    meant = candidate(0.8, 0.2, number=1)
    chance = candidate(0.2, 0.5, number=2)
    assert fuse([chance, meant], floor=0.1) == [meant, chance]


def test_one_sentence_that_answers_is_not_lost_in_a_passage_about_much_else() -> None:
    about = candidate(0.55, 0.2, 0.5, 0.45, number=1)
    answers = candidate(0.45, 0.2, 0.1, 0.8, number=2)
    assert fuse([about, answers], floor=0.1) == [answers, about]
    assert relevance(answers, floor=0.1) > relevance(about, floor=0.1)


def test_a_passage_whose_sentences_have_no_vectors_counts_with_its_own() -> None:
    assert fused_score(candidate(0.5, 0.2), floor=0.1) == fused_score(candidate(0.5, 0.2, 0.5), floor=0.1)


def test_what_only_lexical_search_found_is_taken_to_be_as_far_as_dense_search_reached() -> None:
    far = candidate(0.3, 0.0, number=1)
    near = candidate(0.7, 0.0, number=2)
    worded = candidate(None, 0.8, number=3)
    assert cosine_floor([Hit(one.ref, one.cosine or 0) for one in (near, far)]) == 0.3
    assert fuse([far, near, worded], floor=0.3) == [near, worded, far]
    assert relevance(worded, floor=0.3) == relevance(candidate(0.3, 0.8), floor=0.3)


def test_without_dense_search_coverage_alone_ranks_and_tells_relevant_from_not() -> None:
    candidates = [candidate(None, coverage, number=number) for number, coverage in enumerate((0.1, 0.9, 0.5))]
    assert [found.lexical_coverage for found in fuse(candidates, floor=None)] == [0.9, 0.5, 0.1]
    assert cosine_floor([]) is None
    worded, _, chance = (relevance(found, floor=None) for found in fuse(candidates, floor=None))
    assert worded > 0.5
    assert chance < DEFAULT_SIMILARITY_THRESHOLD


@given(CANDIDATES.flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_fusion_keeps_every_candidate_once_in_an_order_of_its_own(
    lists: tuple[list[Candidate], list[Candidate]],
) -> None:
    candidates, shuffled = lists
    assert fuse(shuffled, floor=0.1) == fuse(candidates, floor=0.1)
    assert sorted(map(id, fuse(candidates, floor=0.1))) == sorted(map(id, candidates))


@given(COSINES, COVERAGES, st.floats(-1, 1) | st.none())
def test_relevance_is_a_probability(cosine: float | None, coverage: float, floor: float | None) -> None:
    assert 0 < relevance(candidate(cosine, coverage), floor=floor) < 1


@given(st.floats(-1, 1), st.floats(-1, 1), COVERAGES, COVERAGES)
def test_neither_a_higher_cosine_nor_more_shared_words_ever_makes_a_passage_less_relevant(
    one: float, other: float, some: float, more: float
) -> None:
    low, high, few, many = min(one, other), max(one, other), min(some, more), max(some, more)
    assert relevance(candidate(low, few), floor=low) <= relevance(candidate(high, many), floor=low)
    assert relevance(candidate(None, few), floor=None) <= relevance(candidate(None, many), floor=None)


@pytest.mark.parametrize(
    ("cosine", "coverage"),
    [(0.45, 0.6), (0.55, 0.4), (0.65, 0.25)],
)
def test_a_right_passage_far_below_a_cosine_of_0_7_passes_the_default_threshold(cosine: float, coverage: float) -> None:
    assert relevance(candidate(cosine, coverage), floor=0.1) >= DEFAULT_SIMILARITY_THRESHOLD


@pytest.mark.parametrize(("cosine", "coverage"), [(0.2, 0.2), (0.37, 0.3), (0.1, 0.8)])
def test_the_best_of_documents_about_something_else_does_not_pass_it(cosine: float, coverage: float) -> None:
    assert relevance(candidate(cosine, coverage), floor=0.1) < DEFAULT_SIMILARITY_THRESHOLD
