"""Rebuilding what is derived from texts: after a loss, or a move to another index or embedding model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from botforge.domain.errors import Conflict
from botforge.domain.ids import BotId, UserId
from botforge.ports.embedding import Embedder
from botforge.ports.repositories import Chunks
from botforge.ports.vector_space import Reembedding, VectorSpace
from botforge.ports.vectors import VectorIndex
from botforge.services.chunk_embedding import chunk_vectors
from botforge.services.tool_embedding import tool_vectors

_BATCH = 256


@dataclass(frozen=True, slots=True)
class ReindexingService:
    chunks: Chunks
    embedder: Embedder
    vectors: VectorIndex
    space: VectorSpace
    others: Reembedding
    bots: Callable[[], Sequence[tuple[UserId, BotId]]]

    def rebuild(self, only: BotId | None = None) -> Iterator[tuple[BotId, int]]:
        """Rebuild one bot's namespace, or all; each with how many vectors were written.

        If the model is another than before, all namespaces are emptied first. Then, in one transaction with the note of
        whose vectors there are, those of sentences go and those of tools and routing examples change: no search meets
        vectors of both. Queries meanwhile find what is written so far. Raises Conflict when one bot alone is to change
        its model.
        """
        bots = self.bots()
        if self.space.adopt(self.embedder.model_id) != self.embedder.model_id:
            if only is not None:
                raise Conflict(
                    "The embedding model has changed, and it changes for all bots at once.",
                    code="embedding_model_changed",
                    next_step="Run scripts/reindex without --bot.",
                )
            self._change_model(bots)
        for user_id, bot_id in bots:
            if only is None or bot_id == only:
                yield bot_id, self._rebuild(user_id, bot_id)

    def _change_model(self, bots: Sequence[tuple[UserId, BotId]]) -> None:
        tools, examples = self.others.tools(), self.others.examples()
        of_tools = tool_vectors(self.embedder, [definition for _, definition in tools])
        of_examples = [one.vector for one in self.embedder.embed([text for _, text in examples])]
        for user_id, bot_id in bots:
            self.vectors.delete_namespace(user_id, bot_id)
        self.others.switch(
            self.embedder.model_id,
            dict(zip((id_ for id_, _ in tools), of_tools, strict=True)),
            dict(zip((id_ for id_, _ in examples), of_examples, strict=True)),
        )

    def _rebuild(self, user_id: UserId, bot_id: BotId) -> int:
        self.vectors.delete_namespace(user_id, bot_id)
        active = iter(self.chunks.active(user_id, bot_id))
        written = 0
        while batch := list(islice(active, _BATCH)):
            embedded = chunk_vectors(self.embedder, [chunk for _, chunk in batch], with_sentences=True)
            paired = [(ref, one) for (ref, _), one in zip(batch, embedded, strict=True)]
            self.chunks.write_sentences(user_id, bot_id, [(ref, one.sentences) for ref, one in paired])
            self.vectors.upsert(user_id, bot_id, [(ref, one.vector) for ref, one in paired])
            written += len(batch)
        return written
