"""Whether an answer's statements stand in what they cite."""

from uuid import uuid4

import pytest
from tests.fakes.embedding import BagOfWordsEmbedder

from botforge.domain.answer import Source
from botforge.domain.chunk import Candidate, Passage
from botforge.domain.claims import Claim, claims, contradicted, negated, numbers
from botforge.domain.ids import ChunkRef, DocumentId
from botforge.services.grounding import Grounding, GroundingCheck

WARRANTY = "The warranty of the Nimbus lasts five years. It covers the frame, not the tyres. Repairs cost 1,000 euros."
OFFICE = "The office in Oslo opens at nine. Ask for Ingrid at the door."


def sources(*texts: str, headings: tuple[str, ...] = ()) -> list[Source]:
    return [
        Source(
            number, Passage(Candidate(ChunkRef(DocumentId(uuid4()), 1, 0), "a.txt", text, None, headings, None), 0.9)
        )
        for number, text in enumerate(texts, start=1)
    ]


def check(text: str, *texts: str, embedder: BagOfWordsEmbedder | None = None) -> Grounding:
    return GroundingCheck(embedder or BagOfWordsEmbedder()).check(text, sources(*(texts or (WARRANTY, OFFICE))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Five years [1].", [Claim("Five years.", (1,))]),
        (
            "Five years. [1] It covers the frame. [2][3]",
            [Claim("Five years.", (1,)), Claim("It covers the frame.", (2, 3))],
        ),
        ("- **Frame**: covered [2]\n- Fork: covered", [Claim("Frame**: covered", (2,)), Claim("Fork: covered", ())]),
        ("What is covered? The following:", []),
        ("It is. Yes [1].", []),
        ("", []),
    ],
)
def test_an_answer_is_read_as_statements_with_the_sources_they_name(text: str, expected: list[Claim]) -> None:
    assert claims(text) == expected


def test_numbers_are_compared_however_their_digits_are_grouped() -> None:
    assert numbers("1,000 of 2.50 in 2020, 3,5") == {"1000", "2.50", "2020", "3,5"}


def test_two_negations_are_none() -> None:
    assert negated("It is not covered.")
    assert negated("It isn't covered.")
    assert not negated("It is not without cover.")
    assert not negated("It is covered.")


@pytest.mark.parametrize(
    "claim",
    [
        "The warranty of the Nimbus lasts 7 years.",
        "Ask for Sigrid at the door.",
        "It covers the frame and the tyres.",
        "The office in Oslo never opens at nine.",
    ],
)
def test_a_number_a_name_or_a_negation_that_differs_is_unsupported(claim: str) -> None:
    assert check(f"{claim} [1][2]") == Grounding(grounded=False, unsupported=(claim,))


def test_a_negation_in_another_part_of_a_longer_sentence_contradicts_nothing() -> None:
    sentence = "The warranty covers the frame and the fork, but whoever rides in races is not covered by it at all."
    assert not contradicted("The warranty covers the frame and the fork.", sentence, sentence)
    excluded = "Whoever rides races with the frame is not covered."
    assert contradicted("Whoever rides races with the frame is covered.", excluded, excluded)


@pytest.mark.parametrize(
    "text",
    [
        "The warranty of the Nimbus lasts five years [1].",
        "Repairs cost 1000 euros [1].",
        "The office opens at nine [2]. It covers the frame [1].",
        "The office opens at nine.",
    ],
)
def test_what_stands_in_the_cited_passage_is_supported(text: str) -> None:
    assert check(text) == Grounding(grounded=True)


def test_what_stands_in_another_passage_than_the_cited_one_is_not_supported() -> None:
    assert check("The office opens at nine [1].").unsupported == ("The office opens at nine.",)


def test_a_statement_without_a_marker_is_compared_with_what_the_others_cite() -> None:
    assert check("The warranty lasts five years [1]. The office opens at nine.").unsupported == (
        "The office opens at nine.",
    )


def test_headings_count_as_said() -> None:
    given = sources("It lasts five years.", headings=("Nimbus warranty",))
    found = GroundingCheck(BagOfWordsEmbedder()).check("The Nimbus warranty lasts five years [1].", given)
    assert found.grounded


def test_what_is_quoted_costs_no_embedding_and_a_missing_model_leaves_words_to_decide() -> None:
    embedder = BagOfWordsEmbedder()
    check("The warranty of the Nimbus lasts five years [1].", embedder=embedder)
    assert embedder.calls == []
    embedder.unavailable = True
    assert check("The guarantee holds half a decade on everything [1].", embedder=embedder).grounded is False
    assert check("The warranty lasts five years [1].", embedder=embedder).grounded


def test_an_answer_that_states_nothing_has_nothing_to_check() -> None:
    assert check("What do you mean?") == Grounding(grounded=None)
