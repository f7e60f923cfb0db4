"""The file of the trained head: plain arrays, a version and a checksum; nothing in it is executed."""

import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from botforge.adapters.routing.join import Join
from botforge.adapters.routing.trees import Trees

Floats = npt.NDArray[np.float32]

FORMAT = 1
FILE = Path(__file__).with_name("weights.npz")
MANIFEST = Path(__file__).with_name("weights.json")


class WeightsDamaged(Exception):
    """The file is not the one that the manifest describes."""


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays of the file. ``d`` is the embedding's dimension, ``w`` the number of wording features, ``f`` of all."""

    text_embedding: Floats  # (d + w,): logistic regression on embedding and wording
    text_grams: Floats  # (GRAM_SLOTS,): on hashed n-grams
    text_grams_wording: Floats  # (w,)
    text_biases: Floats  # (2,)
    pairing: Floats  # (d, d): message @ pairing @ tool is their learned similarity
    background: Floats  # (b, d): tools that no bot has, to compare a bot's tools with
    questions_mean: Floats  # (d,): of the embeddings of questions that need no tool
    questions_spread: Floats  # (d, d): their covariance
    idf: Floats  # (IDF_SLOTS,)
    join_mean: Floats  # (f,)
    join_scale: Floats  # (f,)
    join_weights: Floats  # (f,)
    join_bias: Floats  # (1,)
    tree_features: npt.NDArray[np.int16]  # (trees, nodes)
    tree_thresholds: npt.NDArray[np.float64]  # (trees, nodes)
    tree_values: Floats  # (trees, leaves)
    calibration: Floats  # (2,): slope and intercept of the joined log odds

    @property
    def join(self) -> Join:
        trees = Trees(self.tree_features, self.tree_thresholds, self.tree_values)
        return Join(self.join_mean, self.join_scale, self.join_weights, self.join_bias, trees)

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """Widened from what they are stored as."""

        def widened(name: str) -> Any:  # noqa: ANN401 - an array of the field's type
            array = found[name]
            return array.astype(np.float32) if array.dtype == np.float16 else array

        return cls(**{field.name: widened(field.name) for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class Weights:
    model_id: str  # of the embedding model
    arrays: Arrays


def load(file: Path = FILE, manifest: Path = MANIFEST) -> Weights:
    """Raises WeightsDamaged."""
    try:
        described = json.loads(manifest.read_text(encoding="utf-8"))
        content = file.read_bytes()
        if described["format"] != FORMAT:
            raise WeightsDamaged(f"{manifest.name} is of format {described['format']}, not {FORMAT}")
        if hashlib.sha256(content).hexdigest() != described["sha256"]:
            raise WeightsDamaged(f"{file.name} is not the file that {manifest.name} describes")
        with np.load(file, allow_pickle=False) as found:
            return Weights(str(described["model_id"]), Arrays.of(found))
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise WeightsDamaged(f"{file.name} cannot be read: {error}") from error
