"""Pinecone's hosted rerankers, over the Pinecone SDK ("Rerank results" in Pinecone's documentation)."""

import weakref
from collections.abc import Sequence

import httpx
from pinecone import Pinecone
from pinecone.errors.exceptions import ApiError, PineconeError

from botforge.adapters.overdue import Calls, Overdue
from botforge.domain.deadline import Deadline
from botforge.domain.errors import RerankerUnavailable

MODEL = "bge-reranker-v2-m3"
_MAX_DOCUMENTS = 100  # the model's limit for one request
_MAX_QUESTION = 2_000  # characters: with a passage beside it the model reads 1,024 tokens
_ATTEMPT_TIMEOUT_S = 5.0  # of each of the SDK's attempts
_MAX_CALLS = 16  # at once, those included whose deadline has passed and that have not noticed yet


class PineconeReranker:
    """Reranker by a model that Pinecone runs. Text of passages leaves for Pinecone: that is the owner's choice."""

    def __init__(self, *, api_key: str, host: str | None = None, model: str = MODEL) -> None:
        """``host``: of Pinecone's API, if it is not the usual one. Raises ValueError for a key no header can hold."""
        self._client = Pinecone(api_key=api_key.strip(), host=host, timeout=_ATTEMPT_TIMEOUT_S)
        self._model = model
        self._calls = Calls("pinecone-rerank", limit=_MAX_CALLS)
        self._close = weakref.finalize(self, self._client.close)

    def close(self) -> None:
        """Free the connections. The reranker cannot be used afterwards."""
        self._close()

    def rerank(self, question: str, passages: Sequence[str], *, deadline: Deadline) -> list[float]:
        deadline.check()
        scores: list[float] = []
        for start in range(0, len(passages), _MAX_DOCUMENTS):
            scores += self._scores(question[:_MAX_QUESTION], passages[start : start + _MAX_DOCUMENTS], deadline)
        return scores

    def _scores(self, question: str, passages: Sequence[str], deadline: Deadline) -> list[float]:
        try:
            found = self._calls.run(
                lambda: self._client.inference.rerank(
                    model=self._model,
                    query=question,
                    documents=[passage if passage.strip() else "." for passage in passages],  # none may be empty
                    return_documents=False,
                    parameters={"truncate": "END"},  # the model would refuse what is too long for it
                ),
                deadline,
            )
        except Overdue:
            raise RerankerUnavailable("The reranker does not answer in time.", code="reranker_timeout") from None
        except ApiError as error:
            raise RerankerUnavailable(f"The reranker answered with HTTP {error.status_code}.") from None
        except (PineconeError, httpx.HTTPError):
            raise RerankerUnavailable("The reranker cannot be reached, or answers nonsense.") from None
        by_place = {document.index: float(document.score) for document in found.data}
        if sorted(by_place) != list(range(len(passages))):
            raise RerankerUnavailable("The reranker did not judge every passage.")
        return [by_place[place] for place in range(len(passages))]
