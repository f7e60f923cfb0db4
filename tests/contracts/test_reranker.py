"""What every Reranker keeps to; there is one, Pinecone's hosted model over HTTP."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from botforge.adapters.reranking.pinecone import PineconeReranker
from botforge.domain.deadline import Deadline
from botforge.domain.errors import DeadlineExceeded, RerankerUnavailable
from botforge.ports.reranking import Reranker
from botforge_dev.fakes.loopback import Cut, Hang, Respond
from botforge_dev.fakes.pinecone_inference import API_KEY, PineconeInference, pinecone_inference

QUESTION = "How long is the warranty of the tent?"
RIGHT = "We make outdoor gear. The warranty of the tent is three years. Returns are free."
WRONG = "Our shop in Lyon opens at nine. Parking is free on Sundays. Dogs are welcome."


@pytest.fixture
def hosted() -> Iterator[tuple[PineconeReranker, PineconeInference]]:
    with pinecone_inference() as server, closing(PineconeReranker(api_key=API_KEY, host=server.url)) as adapter:
        yield adapter, server


@pytest.fixture
def reranker(hosted: tuple[PineconeReranker, PineconeInference]) -> Reranker:
    return hosted[0]


def test_scores_come_in_the_order_of_the_passages_and_the_better_one_has_more(reranker: Reranker) -> None:
    first, second, third = reranker.rerank(QUESTION, [WRONG, RIGHT, WRONG], deadline=Deadline.after(30))
    assert second > first
    assert first == pytest.approx(third, abs=1e-4)


def test_no_passages_have_no_scores(reranker: Reranker) -> None:
    assert reranker.rerank(QUESTION, [], deadline=Deadline.after(30)) == []


@pytest.mark.parametrize("text", ["", " \n", "…", "x" * 20_000, "word " * 5_000, "天気がいい。散歩に行こう。"])
def test_any_passage_gets_a_score(reranker: Reranker, text: str) -> None:
    scores = reranker.rerank(QUESTION, [text, RIGHT], deadline=Deadline.after(60))
    assert len(scores) == 2
    assert scores[1] > scores[0]


def test_more_passages_than_one_request_takes_are_all_judged(reranker: Reranker) -> None:
    scores = reranker.rerank(QUESTION, [*["Parking is free."] * 120, RIGHT], deadline=Deadline.after(60))
    assert len(scores) == 121
    assert max(range(121), key=scores.__getitem__) == 120


def test_a_deadline_that_has_passed_is_said_before_anything_is_asked(reranker: Reranker) -> None:
    with pytest.raises(DeadlineExceeded):
        reranker.rerank(QUESTION, [RIGHT], deadline=Deadline.after(-1))


def test_a_reranker_that_hangs_is_left_at_the_deadline(hosted: tuple[PineconeReranker, PineconeInference]) -> None:
    adapter, server = hosted
    server.fail(Hang())
    with pytest.raises(RerankerUnavailable) as raised:
        adapter.rerank(QUESTION, [RIGHT, WRONG], deadline=Deadline.after(0.3))
    assert raised.value.code == "reranker_timeout"


@pytest.mark.parametrize(
    "fault",
    [
        Respond(401, {"error": {"code": "UNAUTHENTICATED", "message": f"bad key {API_KEY}"}, "status": 401}),
        Respond(400, {"error": {"code": "INVALID_ARGUMENT", "message": RIGHT}, "status": 400}),
        Respond(200, b"<html>"),
        Respond(200, {"model": "m", "data": [{"index": 0, "score": 1.0}], "usage": {"rerank_units": 1}}),
        Respond(200, {"model": "m", "data": [{"index": 7, "score": 1.0}] * 2, "usage": {"rerank_units": 1}}),
        Cut("body"),
    ],
    ids=["401", "400", "no JSON", "too few", "unknown places", "cut"],
)
def test_an_answer_that_is_none_is_an_error_of_ours_which_repeats_nothing(
    hosted: tuple[PineconeReranker, PineconeInference], fault: Respond | Cut
) -> None:
    adapter, server = hosted
    server.fail(*[fault] * 8)
    with pytest.raises(RerankerUnavailable) as raised:
        adapter.rerank(QUESTION, [RIGHT, WRONG], deadline=Deadline.after(20))
    assert API_KEY not in str(raised.value)
    assert RIGHT not in str(raised.value)


def test_the_hosted_model_is_told_to_cut_what_it_cannot_read_and_to_send_no_text_back(
    hosted: tuple[PineconeReranker, PineconeInference],
) -> None:
    adapter, server = hosted
    adapter.rerank(QUESTION, ["word " * 5_000], deadline=Deadline.after(20))
    (request,) = server.received
    assert b'"truncate":"END"' in request.body.replace(b" ", b"")
    assert b'"return_documents":false' in request.body.replace(b" ", b"")
