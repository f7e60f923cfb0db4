"""Import the opponent's handler as Lambda does, the first embedding included."""

import time

START = time.perf_counter()

import handler_app  # noqa: E402

handler_app.embeddings.embed_query("How long does the warranty last?")
took_s = time.perf_counter() - START

import json  # noqa: E402

from peak_memory import peak_mb  # noqa: E402

assert callable(handler_app.handler)  # noqa: S101
print(json.dumps({"ms": took_s * 1000, "rss_mb": peak_mb()}))
