"""Embed what is asked for, with sentence-transformers as its documentation shows it."""

import time

START = time.perf_counter()

import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

import torch  # noqa: E402
from peak_memory import peak_mb  # noqa: E402
from sentence_transformers import SentenceTransformer  # noqa: E402

torch.set_num_threads(1)
model = SentenceTransformer(os.environ["EMBEDDING_MODEL_DIR"], device="cpu")
model.max_seq_length = 256


def timed(texts: list[str], *, one_by_one: bool, batch_size: int) -> list[float]:
    """Seconds: of each text by itself, or of all at once."""
    took: list[float] = []
    for batch in texts if one_by_one else [texts]:
        start = time.perf_counter()
        model.encode(batch, batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False)
        took.append(time.perf_counter() - start)
    return took


if sys.argv[1:] == ["cold"]:
    model.encode("How long does the warranty last?", normalize_embeddings=True, show_progress_bar=False)
    took_s = time.perf_counter() - START
    print(json.dumps({"ms": took_s * 1000, "rss_mb": peak_mb()}))
else:
    for line in sys.stdin:
        job = json.loads(line)
        took = timed(job["texts"], one_by_one=job["one_by_one"], batch_size=job.get("batch_size", 32))
        print(json.dumps(took), flush=True)
