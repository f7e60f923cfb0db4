"""An embedder that embeds each text once, however often it comes up."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from botforge.ports.embedding import Embedder, Embedding

_BATCH = 32


@dataclass(slots=True)
class Remembering:
    model: Embedder
    known: dict[str, Embedding] = field(default_factory=dict[str, Embedding])

    @property
    def model_id(self) -> str:
        return self.model.model_id

    @property
    def dimension(self) -> int:
        return self.model.dimension

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        for start in range(0, len(new), _BATCH):
            batch = new[start : start + _BATCH]
            self.known.update(zip(batch, self.model.embed(batch), strict=True))
        return [self.known[text] for text in texts]
