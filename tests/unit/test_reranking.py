"""The head of a ranking in a new order, and what becomes of an answer when the reranker fails."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.clock import FixedClock
from tests.fakes.embedding import BagOfWordsEmbedder
from tests.fakes.vectors import InMemoryVectorIndex

from botforge.domain.chunk import Candidate
from botforge.domain.deadline import Deadline
from botforge.domain.errors import DeadlineExceeded, RerankerUnavailable
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.services.reranking import Reranking
from botforge.services.retrieval import Retriever
from botforge.services.stages import Stages

USER, BOT = UserId(UUID(int=1)), BotId(UUID(int=2))


@dataclass
class Judge:
    """Scores by text; ``error`` is raised instead."""

    scores: dict[str, float]
    error: Exception | None = None
    asked: list[list[str]] = field(default_factory=list[list[str]])

    def rerank(self, question: str, passages: Sequence[str], *, deadline: Deadline) -> list[float]:
        assert question
        self.asked.append(list(passages))
        deadline.check()
        if self.error is not None:
            raise self.error
        return [self.scores.get(passage, 0.0) for passage in passages]


def candidate(number: int, cosine: float) -> Candidate:
    ref = ChunkRef(DocumentId(UUID(int=number)), 1, 0)
    return Candidate(ref, f"{number}.txt", f"passage {number}", None, (), None, cosine, None, 0.0)


RANKED = [candidate(number, 0.9 - number / 100) for number in range(30)]


def order(judge: Judge, ranked: Sequence[Candidate] = RANKED, *, weight: float = 0.5) -> list[str]:
    made = Reranking(judge, weight).ordered("question", ranked, floor=0.1, deadline=Deadline.after(10))
    return [one.text for one in made]


def test_a_score_counts_beside_the_rankings_own() -> None:
    made = order(Judge({"passage 3": 0.4, "passage 1": 0.06}))
    assert made[:4] == ["passage 3", "passage 1", "passage 0", "passage 2"]


def test_only_the_head_is_judged_and_nothing_is_lost() -> None:
    judge = Judge({"passage 19": 9.0, "passage 20": 99.0})
    made = order(judge)
    assert judge.asked == [[f"passage {number}" for number in range(20)]]
    assert made[0] == "passage 19"
    assert made[20:] == [f"passage {number}" for number in range(20, 30)]
    assert sorted(made) == sorted(one.text for one in RANKED)


def test_a_ranking_of_one_needs_no_judge() -> None:
    judge = Judge({})
    assert order(judge, RANKED[:1]) == ["passage 0"]
    assert not judge.asked


def test_what_only_lexical_search_found_counts_with_the_floor() -> None:
    lexical = replace(candidate(99, 0.0), cosine=None, text="lexical")
    assert order(Judge({"lexical": 4.0}), [*RANKED[:3], lexical])[0] == "lexical"


class Chunks:
    def search(self, *_: object, **__: object) -> list[Candidate]:
        return RANKED[:3]


def retrieved(judge: Judge, seconds: float = 10) -> tuple[list[str], dict[str, str], Stages]:
    clock = FixedClock()
    chunks: Any = Chunks()
    stages = Stages(clock.monotonic)
    retriever = Retriever(BagOfWordsEmbedder(), InMemoryVectorIndex(), chunks, Reranking(judge, 1.0))
    found = retriever.retrieve(
        USER, BOT, "question", max_chunks=3, threshold=0.0, deadline=Deadline.after(seconds), stages=stages
    )
    return [passage.candidate.text for passage in found.passages], dict(found.degraded), stages


def test_retrieval_answers_in_the_new_order_and_says_how_long_it_took() -> None:
    passages, degraded, stages = retrieved(Judge({"passage 2": 1.0}))
    assert passages == ["passage 2", "passage 0", "passage 1"]
    assert degraded == {"relevance": "not_calibrated"}, "which is so for any model but the product's"
    assert "rerank" in stages.milliseconds


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RerankerUnavailable("Gone."), "reranker_unavailable"),
        (RerankerUnavailable("Slow.", code="reranker_timeout"), "reranker_timeout"),
        (DeadlineExceeded("Slow."), "reranker_timeout"),
    ],
)
def test_a_reranker_that_fails_costs_the_order_and_not_the_answer(error: Exception, code: str) -> None:
    passages, degraded, _ = retrieved(Judge({}, error))
    assert passages == ["passage 0", "passage 1", "passage 2"]
    assert degraded == {"relevance": "not_calibrated", "reranker": code}
