"""The vector index: ids and vectors, derived from Postgres and never trusted for what exists."""

from collections.abc import Collection, Sequence
from typing import Protocol

from botforge.domain.chunk import Hit
from botforge.domain.deadline import Deadline
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.ports.embedding import Vector


class VectorIndex(Protocol):
    """One namespace a bot. Every method raises VectorIndexUnavailable when the index does not answer.

    Writes may become visible late: a reader must not conclude anything from a missing hit, and a writer asks
    ``missing`` before it tells anyone that its vectors can be found.
    """

    def upsert(self, user_id: UserId, bot_id: BotId, vectors: Sequence[tuple[ChunkRef, Vector]]) -> None:
        """Write vectors, in as many batches as the index needs. Writing the same again changes nothing."""
        ...

    def query(
        self,
        user_id: UserId,
        bot_id: BotId,
        vector: Vector,
        *,
        top_k: int,
        document_ids: Collection[DocumentId] = (),
        deadline: Deadline,
    ) -> list[Hit]:
        """The nearest vectors of the namespace, best first; of ``document_ids`` only, if any are given.

        Hits may name chunks that are no longer (or not yet) active: the caller asks Postgres.
        """
        ...

    def missing(self, user_id: UserId, bot_id: BotId, refs: Sequence[ChunkRef]) -> frozenset[ChunkRef]:
        """Those of ``refs`` that the index cannot return yet."""
        ...

    def delete_generations(self, user_id: UserId, bot_id: BotId, document_id: DocumentId, *, keep: int | None) -> None:
        """Drop a document's vectors: all of them, or all but those of the generation to keep."""
        ...

    def delete_namespace(self, user_id: UserId, bot_id: BotId) -> None:
        """Drop everything of a bot. A namespace that does not exist is no error."""
        ...

    def ping(self, deadline: Deadline) -> None:
        """Raise VectorIndexUnavailable unless the index answers."""
        ...
