"""Hold the ONNX graph to the original: every one of 2,000 varied texts within a cosine of 0.9999.

``python -m botforge_dev.model.exporting.verify MODEL_DIR ORIGINAL_DIR [--reference]``, in the environment of
``scripts/export_model``. Prints one JSON object, and exits 1 when a text is further away or differently truncated.
"""

import argparse
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.embedding.sentence_transformers import SentenceTransformersEmbedder
from botforge_dev.model.reference import REFERENCE_TEXTS, Reference, write_reference
from botforge_dev.model.texts import varied_texts

LEAST_COSINE = 0.9999
TEXTS = 2_000


def compare(ours: OnnxEmbedder, original: SentenceTransformersEmbedder, texts: list[str]) -> dict[str, Any]:
    """The figures of the comparison; ``passed`` says whether every text is as near as it must be."""
    mine, theirs = ours.embed(texts), original.embed(texts)
    a = np.array([embedding.vector for embedding in mine], dtype=np.float64)
    b = np.array([embedding.vector for embedding in theirs], dtype=np.float64)
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    worst = int(cosines.argmin())
    cut = [x.truncated for x in mine]
    different = sum(x.truncated != y.truncated for x, y in zip(mine, theirs, strict=True))
    return {
        "texts": len(texts),
        "truncated": sum(cut),
        "least_cosine": float(cosines[worst]),
        "mean_cosine_error": float(1 - cosines.mean()),
        "worst_text": texts[worst][:80],
        "truncated_differently": different,
        "passed": bool(cosines.min() >= LEAST_COSINE) and different == 0,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("original", type=Path)
    parser.add_argument("--reference", action="store_true", help="write the reference vectors of the contract tests")
    options = parser.parse_args()
    data = os.environ.get("BOTFORGE_DATA")
    original = SentenceTransformersEmbedder(options.original, device="cpu")
    ours = OnnxEmbedder(options.model)
    report = compare(ours, original, varied_texts(TEXTS, Path(data) if data else None))
    print(json.dumps(report))
    if not report["passed"]:
        return 1
    if options.reference:
        embeddings = original.embed(REFERENCE_TEXTS)
        write_reference(
            [Reference(t, e.truncated, tuple(e.vector)) for t, e in zip(REFERENCE_TEXTS, embeddings, strict=True)],
            f"sentence-transformers {version('sentence-transformers')}, torch {version('torch')}",
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
