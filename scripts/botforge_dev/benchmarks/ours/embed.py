"""Embed what is asked for: the one program of this side that both worker and cold start use."""

import time

START = time.perf_counter()

import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402

from peak_memory import peak_mb  # noqa: E402  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

from botforge.adapters.embedding.onnx import OnnxEmbedder  # noqa: E402

embedder = OnnxEmbedder(Path(os.environ["EMBEDDING_MODEL_DIR"]))


def timed(texts: list[str], *, one_by_one: bool) -> list[float]:
    """Seconds: of each text by itself, or of all at once."""
    took: list[float] = []
    for batch in [[text] for text in texts] if one_by_one else [texts]:
        start = time.perf_counter()
        embedder.embed(batch)
        took.append(time.perf_counter() - start)
    return took


if sys.argv[1:] == ["cold"]:
    embedder.embed(["How long does the warranty last?"])
    took_s = time.perf_counter() - START
    print(json.dumps({"ms": took_s * 1000, "rss_mb": peak_mb()}))
else:
    for line in sys.stdin:
        job = json.loads(line)
        print(json.dumps(timed(job["texts"], one_by_one=job["one_by_one"])), flush=True)
