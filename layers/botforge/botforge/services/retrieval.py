"""Which passages of a bot's documents help to answer a question, and how surely."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from botforge.domain.chunk import Candidate, Hit, Passage, Retrieval
from botforge.domain.deadline import Deadline
from botforge.domain.errors import DeadlineExceeded, EmbeddingUnavailable, RerankerUnavailable, VectorIndexUnavailable
from botforge.domain.fusion import cosine_floor, fuse
from botforge.domain.ids import BotId, DocumentId, UserId
from botforge.domain.relevance import MODEL_ID, relevance
from botforge.ports.embedding import Embedder, Vector
from botforge.ports.repositories import Chunks
from botforge.ports.vectors import VectorIndex
from botforge.services.reranking import Reranking
from botforge.services.stages import Stages

_DENSE_LIMIT = 50
_LEXICAL_LIMIT = 50
_SHORTLIST = 40  # of those whose texts are read and whose sentences are compared
_INDEX_SHARE = 0.4  # of the time left: an index that hangs must leave time for lexical search and an answer


@dataclass(frozen=True, slots=True)
class Retriever:
    embedder: Embedder
    vectors: VectorIndex
    chunks: Chunks
    reranking: Reranking | None = None

    def retrieve(
        self,
        user_id: UserId,
        bot_id: BotId,
        text: str,
        *,
        max_chunks: int,
        threshold: float,
        document_ids: Collection[DocumentId] = (),
        deadline: Deadline,
        stages: Stages,
    ) -> Retrieval:
        """Dense and lexical candidates and their sentences in one ranking; the relevant ones, at most ``max_chunks``.

        Without the vector index or the embedding model the lexical half goes on alone, without the reranker its
        ranking stays as it is, and ``degraded`` says so.
        Another embedding model than relevance was calibrated for is named there, too.
        Raises DatabaseUnavailable: without Postgres nothing is known to exist.
        """
        degraded: dict[str, str] = {} if self.embedder.model_id == MODEL_ID else {"relevance": "not_calibrated"}
        vector = self._embedded(text, stages, degraded)
        hits = () if vector is None else self._dense(user_id, bot_id, vector, document_ids, deadline, stages, degraded)
        floor = cosine_floor(hits)
        with stages.measure("retrieve"):
            candidates = self.chunks.search(
                user_id,
                bot_id,
                text,
                hits,
                vector=vector,
                lexical_limit=_LEXICAL_LIMIT,
                limit=_SHORTLIST,
                document_ids=document_ids,
            )
            ordered = fuse(candidates, floor=floor)
        if self.reranking is not None:
            ordered = self._reranked(self.reranking, text, ordered, floor, deadline, stages, degraded)
        ranked = [Passage(candidate, relevance(candidate, floor=floor)) for candidate in ordered]
        relevant = [passage for passage in ranked if passage.relevance >= threshold]
        nearest = max(ranked, key=lambda passage: passage.relevance, default=None)
        return Retrieval(
            passages=tuple(_distinct(relevant, max_chunks)),
            best_relevance=nearest.relevance if nearest else 0.0,
            candidates=len(ranked),
            question=text,
            documents=len({passage.candidate.ref.document_id for passage in ranked}),
            nearest=nearest,
            threshold=threshold,
            degraded=degraded,
        )

    def _reranked(
        self,
        reranking: Reranking,
        text: str,
        ordered: list[Candidate],
        floor: float | None,
        deadline: Deadline,
        stages: Stages,
        degraded: dict[str, str],
    ) -> list[Candidate]:
        try:
            with stages.measure("rerank"):
                return reranking.ordered(text, ordered, floor=floor, deadline=deadline)
        except RerankerUnavailable as error:
            degraded["reranker"] = error.code
        except DeadlineExceeded:
            deadline.check()
            degraded["reranker"] = "reranker_timeout"
        return ordered

    def _embedded(self, text: str, stages: Stages, degraded: dict[str, str]) -> Vector | None:
        try:
            with stages.measure("embed"):
                return self.embedder.embed([text])[0].vector
        except EmbeddingUnavailable as error:
            degraded["embedding"] = error.code
        return None

    def _dense(
        self,
        user_id: UserId,
        bot_id: BotId,
        vector: Vector,
        document_ids: Collection[DocumentId],
        deadline: Deadline,
        stages: Stages,
        degraded: dict[str, str],
    ) -> Sequence[Hit]:
        try:
            with stages.measure("index"):
                return self.vectors.query(
                    user_id,
                    bot_id,
                    vector,
                    top_k=_DENSE_LIMIT,
                    document_ids=document_ids,
                    deadline=deadline.less(deadline.remaining() * (1 - _INDEX_SHARE)),
                )
        except VectorIndexUnavailable as error:
            degraded["vector_index"] = error.code
        except DeadlineExceeded:
            deadline.check()
            degraded["vector_index"] = "deadline_exceeded"
        return ()


def _distinct(passages: Sequence[Passage], limit: int) -> list[Passage]:
    """The first ``limit`` that do not say word for word what a better one says: copies would fill the answer."""
    seen: dict[str, Passage] = {}
    for passage in passages:
        if len(seen) == limit:
            break
        seen.setdefault(re.sub(r"\W+", " ", passage.candidate.text).casefold(), passage)
    return list(seen.values())
