"""``python -m botforge_dev.routing.training.train FOLDER``: fit on the committed data, write weights and manifest."""

import hashlib
import io
import json
import sys
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from botforge.adapters.routing.weights import FORMAT, Arrays
from botforge_dev.routing.corpus import AUTHORED, SENTENCES, TOOLS, committed
from botforge_dev.routing.training.embedding import KeptEmbedder
from botforge_dev.routing.training.fitting import fit
from botforge_dev.routing.training.measured import Measured

_EXACT = {"tree_thresholds", "tree_features", "calibration", "join_mean", "join_scale", "join_weights", "join_bias"}
_EPOCH = (1980, 1, 1, 0, 0, 0)  # ZIP's first moment: the same arrays give the same bytes


def main() -> None:
    folder = Path(sys.argv[1])
    embed = KeptEmbedder()
    corpus = committed()
    data = Measured.of(corpus, embed)
    sources = sorted({sentence.source for sentence in corpus.sentences})
    fitted = fit(data, sources)
    content = packed(fitted.arrays)
    described = {
        "format": FORMAT,
        "sha256": hashlib.sha256(content).hexdigest(),
        "model_id": embed.model_id,
        "sources": sources,
        "sentences": len(corpus.sentences),
        "training_data": {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in (SENTENCES, TOOLS, AUTHORED)
        },
        "made_by": "./scripts/train_router",
    }
    print(f"calibration: {fitted.arrays.calibration.tolist()}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "weights.npz").write_bytes(content)
    (folder / "weights.json").write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def packed(arrays: Arrays) -> bytes:
    """The arrays as NumPy's npz, halves where halves do."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for field in fields(arrays):
            array: Any = getattr(arrays, field.name)
            if field.name not in _EXACT:
                array = array.astype(np.float16)
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{field.name}.npy", _EPOCH), member.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


if __name__ == "__main__":
    main()
