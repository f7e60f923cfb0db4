"""all-MiniLM-L6-v2 by ONNX Runtime: no torch, no download, one thread."""

import os

# ONNX Runtime and tokenizers ship no complete types.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding
from tokenizers import Tokenizer as HuggingFaceTokenizer

from botforge.adapters.embedding.manifest import check_files, damage
from botforge.adapters.embedding.reading import MAX_CHARACTERS, beginning, readable
from botforge.domain.errors import EmbeddingUnavailable
from botforge.ports.embedding import Embedding

# Since 1.32, ONNX Runtime reports its use to its makers (mobile.events.data.microsoft.com) and keeps a device id and a
# database in the home folder, unless it is told not to before it is loaded.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
# One thread a worker: a pool of the tokenizer's own would only compete with the model for the core.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import onnxruntime as ort

_SPECIAL_TOKENS = 2  # [CLS] and [SEP]
_LENGTH_TOLERANCE = 1e-3
_BATCH_TOKENS = 256  # per run, with padding: one full text or several short ones; 2,048 cost 10 to 40 % more time


class OnnxEmbedder:
    """Embedder and Tokenizer over the files of the embedding layer.

    Texts are batched by length, so that padding costs little; vectors do not depend on their batch. Safe to share
    between threads. Raises EmbeddingUnavailable when the model's files are missing or damaged.
    """

    def __init__(self, model_dir: Path) -> None:
        manifest = check_files(model_dir)
        self._manifest = manifest
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 3
        try:
            self._session = ort.InferenceSession(
                str(model_dir / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
            self._tokenizer = HuggingFaceTokenizer.from_file(str(model_dir / "tokenizer.json"))
        except Exception as error:  # ONNX Runtime and tokenizers raise bare Exceptions
            raise damage() from error
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(manifest.max_tokens)

    @cached_property
    def _whole(self) -> HuggingFaceTokenizer:
        """A second tokenizer, as truncation is a setting of the object and not of the call; a question needs none."""
        tokenizer = HuggingFaceTokenizer.from_str(self._tokenizer.to_str())
        tokenizer.no_truncation()
        return tokenizer

    @property
    def model_id(self) -> str:
        return self._manifest.model_id

    @property
    def dimension(self) -> int:
        return self._manifest.dimension

    @property
    def max_tokens(self) -> int:
        return self._manifest.max_tokens - _SPECIAL_TOKENS

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        encodings = self._tokenizer.encode_batch([beginning(text) for text in texts])
        embeddings: list[Embedding | None] = [None] * len(texts)
        for batch in _batches([len(encoding.ids) for encoding in encodings]):
            vectors = self._run([encodings[index] for index in batch])
            for index, vector in zip(batch, vectors.tolist(), strict=True):
                cut = bool(encodings[index].overflowing) or len(texts[index]) > MAX_CHARACTERS
                embeddings[index] = Embedding(vector, truncated=cut)
        return [embedding for embedding in embeddings if embedding is not None]

    def spans(self, text: str) -> list[tuple[int, int]]:
        encoding = self._whole.encode(readable(text), add_special_tokens=False)
        return list(encoding.offsets)

    def _run(self, encodings: Sequence[Encoding]) -> npt.NDArray[np.float32]:
        """Pad on the right (the fused graph reads a length, not a mask) and embed."""
        width = max(len(encoding.ids) for encoding in encodings)
        ids = np.zeros((len(encodings), width), dtype=np.int64)
        mask = np.zeros((len(encodings), width), dtype=np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        try:
            (output,) = self._session.run(["sentence_embedding"], {"input_ids": ids, "attention_mask": mask})
        except Exception as error:  # such as no memory left: ONNX Runtime's errors share no base class
            raise EmbeddingUnavailable("The embedding model did not run.") from error
        vectors = np.asarray(output, dtype=np.float32)
        # What a damaged weights file of the right size most often gives is NaN, which no index could compare.
        if vectors.shape != (len(encodings), self.dimension) or not _of_unit_length(vectors):
            raise damage()
        return vectors


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Indices grouped by length, each group at most ``_BATCH_TOKENS`` with its padding."""
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        # In ascending order the newcomer is the longest, and everything is padded to it.
        if batches and (len(batches[-1]) + 1) * lengths[index] <= _BATCH_TOKENS:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def _of_unit_length(vectors: npt.NDArray[np.float32]) -> bool:
    lengths = np.linalg.norm(vectors, axis=1)
    return bool(np.all(np.abs(lengths - 1) < _LENGTH_TOLERANCE))  # false for NaN too
