"""all-MiniLM-L6-v2 by sentence-transformers: for container images and GPUs, where torch has room.

Its vectors and the ONNX adapter's are of one space (cosine ≥ 0.9999), so both may serve one index.
"""

# Types of torch are not at hand: it is in nobody's set-up but that of whoever chooses this adapter.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false
from collections.abc import Sequence
from pathlib import Path

from sentence_transformers import SentenceTransformer

from botforge.domain.errors import EmbeddingUnavailable
from botforge.ports.embedding import Embedding

_MODEL_ID = "all-MiniLM-L6-v2"
_WINDOW = 256  # tokens, the two special ones included
_SPECIAL_TOKENS = 2
_MAX_CHARACTERS = 8_192  # as in the ONNX adapter: what lies behind is never read


class SentenceTransformersEmbedder:
    """Embedder and Tokenizer over a folder with the original model. Raises EmbeddingUnavailable if it does not load."""

    def __init__(self, model_dir: Path) -> None:
        try:
            self._model = SentenceTransformer(str(model_dir), local_files_only=True)
        except (OSError, ValueError) as error:
            raise EmbeddingUnavailable("The embedding model does not load.", code="embedding_model_missing") from error
        self._model.max_seq_length = _WINDOW

    @property
    def model_id(self) -> str:
        return _MODEL_ID

    @property
    def dimension(self) -> int:
        return 384

    @property
    def max_tokens(self) -> int:
        return _WINDOW - _SPECIAL_TOKENS

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        if not texts:
            return []
        readable = [_encodable(text)[:_MAX_CHARACTERS] for text in texts]
        vectors = self._model.encode(readable, normalize_embeddings=True, show_progress_bar=False).tolist()
        return [
            Embedding(vector, truncated=len(text) > _MAX_CHARACTERS or len(self.spans(text)) > self.max_tokens)
            for text, vector in zip(texts, vectors, strict=True)
        ]

    def spans(self, text: str) -> list[tuple[int, int]]:
        encoded = self._model.tokenizer(
            _encodable(text), add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
        )
        return [(int(start), int(end)) for start, end in encoded["offset_mapping"]]


def _encodable(text: str) -> str:
    """Lone surrogates are no text that a tokenizer could read; each becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
