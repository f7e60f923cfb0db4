"""Import a function as Lambda does, the first embedding included where the function embeds: init.py FUNCTION."""

import time

START = time.perf_counter()

import sys  # noqa: E402
from pathlib import Path  # noqa: E402

app_folder = next(Path(folder) for folder in sys.path if (Path(folder) / "functions").is_dir())
sys.path.insert(0, str(app_folder / "functions" / sys.argv[1]))

import app  # noqa: E402  # pyright: ignore[reportMissingImports]

INIT = time.perf_counter()

import gc  # noqa: E402
import json  # noqa: E402

from peak_memory import peak_mb  # noqa: E402  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

ready_s = INIT - START
if "onnxruntime" in sys.modules:
    from botforge.adapters.embedding.onnx import OnnxEmbedder

    # The one that the composition root made; nothing else hands it out.
    embedder = next(found for found in gc.get_objects() if isinstance(found, OnnxEmbedder))
    first = time.perf_counter()
    embedder.embed(["How long does the warranty last?"])
    ready_s += time.perf_counter() - first

assert callable(app.handler)  # noqa: S101  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
print(json.dumps({"ms": ready_s * 1000, "rss_mb": peak_mb()}))
