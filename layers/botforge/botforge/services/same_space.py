"""Vectors of two embedding models are never compared: an embedder whose vectors are not the database's says so."""

from collections.abc import Sequence

from botforge.domain.errors import EmbeddingUnavailable
from botforge.ports.embedding import Embedder, Embedding
from botforge.ports.vector_space import VectorSpace

_DIMENSION = 384  # of the columns that hold vectors


class SameSpaceEmbedder:
    """Embeds what is compared with stored vectors, or stored; asks the database once, before the first text.

    A model that did not make the database's vectors is as good as none: search goes on by words, and what would store
    a vector is refused. After a mismatch it asks again at every text, as ``scripts/reindex`` may have mended it.
    """

    def __init__(self, embedder: Embedder, space: VectorSpace) -> None:
        self._embedder = embedder
        self._space = space
        self._known_to_match = False

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """As the port says. Raises EmbeddingUnavailable also for another model's, DatabaseUnavailable."""
        if not self._known_to_match:
            self._check()
            self._known_to_match = True
        return self._embedder.embed(texts)

    def _check(self) -> None:
        if self.dimension != _DIMENSION:
            raise EmbeddingUnavailable(
                f"The embedding model {self.model_id} has {self.dimension} dimensions, and {_DIMENSION} are stored.",
                code="embedding_dimension",
                next_step=f"Set EMBEDDING_MODEL_DIR to a model of {_DIMENSION} dimensions.",
            )
        stored = self._space.adopt(self.model_id)
        if stored != self.model_id:
            raise EmbeddingUnavailable(
                f"The stored vectors are of the embedding model {stored}, and this one is {self.model_id}.",
                code="embedding_model_changed",
                next_step="Run scripts/reindex, or set EMBEDDING_MODEL_DIR to the model that made the vectors.",
            )
