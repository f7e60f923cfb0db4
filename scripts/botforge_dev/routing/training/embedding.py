"""The product's embedder, with every vector kept in `.build/routing`: texts are many, and training is repeated."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge_dev.build.layout import ROOT
from botforge_dev.model.weights import MODEL_DIR, ensure_weights

_CACHE = ROOT / ".build" / "routing-vectors.npz"
_BATCH = 1_000


class KeptEmbedder:
    """Vectors as float32; ``model_id`` names their space."""

    def __init__(self, cache: Path = _CACHE) -> None:
        ensure_weights()
        self._embedder = OnnxEmbedder(MODEL_DIR)
        self._cache = cache
        self._known: dict[str, Any] = {}
        if cache.exists():
            with np.load(cache, allow_pickle=False) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    @property
    def model_id(self) -> str:
        return self._embedder.model_id

    def __call__(self, texts: Sequence[str]) -> Any:
        keys = [hashlib.sha256(f"{self.model_id} {text}".encode()).hexdigest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        wanted = list(missing)
        for start in range(0, len(wanted), _BATCH):
            part = wanted[start : start + _BATCH]
            embedded = self._embedder.embed([missing[key] for key in part])
            self._known |= {key: np.float32(one.vector) for key, one in zip(part, embedded, strict=True)}
        if wanted:
            self._cache.parent.mkdir(exist_ok=True)
            np.savez(self._cache, keys=np.array(list(self._known)), vectors=np.stack(list(self._known.values())))
        return np.stack([self._known[key] for key in keys])
