"""all-MiniLM-L6-v2, or another model, by sentence-transformers: for container images and GPUs, where torch has room.

all-MiniLM-L6-v2's vectors and the ONNX adapter's are of one space (cosine ≥ 0.9999), so both may serve one index.
"""

# Types of torch are not at hand: it is in nobody's set-up but that of whoever chooses this adapter.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from sentence_transformers import SentenceTransformer

from botforge.adapters.embedding.original import model_id_of
from botforge.adapters.embedding.reading import MAX_CHARACTERS, beginning, readable
from botforge.domain.errors import EmbeddingUnavailable
from botforge.ports.embedding import Embedding

_WINDOW = 256  # tokens at most, the two special ones included
_SPECIAL_TOKENS = 2


class SentenceTransformersEmbedder:
    """Embedder and Tokenizer over a folder with the original model.

    ``device`` is torch's name of one ("cpu", "cuda:0"); None takes the best there is. Safe to share between threads.
    Raises EmbeddingUnavailable when the model does not load or does not run.
    """

    def __init__(self, model_dir: Path, *, device: str | None = None) -> None:
        self._model_id = model_id_of(model_dir)
        try:
            self._model = SentenceTransformer(str(model_dir), device=device, local_files_only=True)
        except Exception as error:  # torch, safetensors and tokenizers each raise errors of their own
            raise EmbeddingUnavailable("The embedding model does not load.", code="embedding_model_damaged") from error
        self._window = min(int(self._model.max_seq_length or _WINDOW), _WINDOW)
        self._model.max_seq_length = self._window
        self._dimension = int(self._model.get_embedding_dimension() or 0)
        # The tokenizer keeps truncation and padding as state, and refuses to be changed while another thread reads.
        self._lock = Lock()

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dimension(self) -> int:
        return self._dimension

    @property
    def max_tokens(self) -> int:
        return self._window - _SPECIAL_TOKENS

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        if not texts:
            return []
        read = [beginning(text) for text in texts]
        try:
            with self._lock:
                vectors = self._model.encode(read, normalize_embeddings=True, show_progress_bar=False).tolist()
        except Exception as error:  # such as no memory left on the device
            raise EmbeddingUnavailable("The embedding model did not run.") from error
        return [
            Embedding(vector, truncated=len(text) > MAX_CHARACTERS or len(self.spans(begun)) > self.max_tokens)
            for text, begun, vector in zip(texts, read, vectors, strict=True)
        ]

    def spans(self, text: str) -> list[tuple[int, int]]:
        with self._lock:
            encoded = self._model.tokenizer(
                readable(text), add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False
            )
        return [(int(start), int(end)) for start, end in encoded["offset_mapping"]]
