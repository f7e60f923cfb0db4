"""A VectorIndex in memory, exact, that can be told to fail or to show its writes late."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from botforge.domain.chunk import Hit
from botforge.domain.deadline import Deadline
from botforge.domain.errors import VectorIndexUnavailable
from botforge.domain.ids import BotId, ChunkRef, DocumentId, UserId
from botforge.ports.embedding import Vector


@dataclass(slots=True)
class InMemoryVectorIndex:
    unavailable: bool = False
    late_by: int = 0  # how often `missing` still misses what was written
    vectors: dict[BotId, dict[ChunkRef, Vector]] = field(default_factory=dict[BotId, dict[ChunkRef, Vector]])

    def upsert(self, user_id: UserId, bot_id: BotId, vectors: Sequence[tuple[ChunkRef, Vector]]) -> None:  # noqa: ARG002
        self._check()
        self.vectors.setdefault(bot_id, {}).update(vectors)

    def query(
        self,
        user_id: UserId,  # noqa: ARG002
        bot_id: BotId,
        vector: Vector,
        *,
        top_k: int,
        document_ids: Collection[DocumentId] = (),
        deadline: Deadline,
    ) -> list[Hit]:
        self._check()
        deadline.check()
        hits = [
            Hit(ref, sum(a * b for a, b in zip(vector, stored, strict=True)))
            for ref, stored in self.vectors.get(bot_id, {}).items()
            if not document_ids or ref.document_id in document_ids
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:top_k]

    def missing(self, user_id: UserId, bot_id: BotId, refs: Sequence[ChunkRef]) -> frozenset[ChunkRef]:  # noqa: ARG002
        self._check()
        if self.late_by:
            self.late_by -= 1
            return frozenset(refs)
        return frozenset(refs) - self.vectors.get(bot_id, {}).keys()

    def delete_generations(self, user_id: UserId, bot_id: BotId, document_id: DocumentId, *, keep: int | None) -> None:  # noqa: ARG002
        self._check()
        stored = self.vectors.get(bot_id, {})
        for ref in [ref for ref in stored if ref.document_id == document_id and ref.generation != keep]:
            del stored[ref]

    def delete_namespace(self, user_id: UserId, bot_id: BotId) -> None:  # noqa: ARG002
        self._check()
        self.vectors.pop(bot_id, None)

    def ping(self, deadline: Deadline) -> None:
        deadline.check()
        self._check()

    def _check(self) -> None:
        if self.unavailable:
            raise VectorIndexUnavailable("The vector index does not answer.")
