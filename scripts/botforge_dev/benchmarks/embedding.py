"""OnnxEmbedder against sentence-transformers: throughput, latency, and a cold process's way to its first vector."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge_dev.benchmarks.contestants import HOME, Contestant
from botforge_dev.benchmarks.corpus import Corpus
from botforge_dev.benchmarks.measuring import Worker, call, p50

_TOKENS = 254  # of a chunk; two special ones make 256
_SHORT = 12  # tokens
_BATCHES = (8, 32)  # of sentence-transformers, whose better one counts; 32 is its default


def run(ours: Contestant, opponents: Contestant, corpus: Corpus, *, quick: bool) -> dict[str, Any]:
    """Chunks a second, milliseconds a query (p50), milliseconds and MB of a cold start, for both sides."""
    rounds, chunk_count, cold_starts = (3, 16, 3) if quick else (5, 32, 7)
    chunks = _full_chunks(corpus, ours.model_dir, chunk_count)
    questions = corpus.questions[:100]
    short = _short(corpus.questions, ours.model_dir)[:100]
    throughput: dict[str, list[float]] = {"ours": [], **{f"opponent_{size}": [] for size in _BATCHES}}
    latency: dict[str, list[float]] = {"ours": [], "opponent": []}
    short_latency: dict[str, list[float]] = {"ours": [], "opponent": []}
    mine = Worker(ours.command("embed.py"), ours.environment(), HOME / "embed-ours.log")
    theirs = Worker(opponents.command("embed.py"), opponents.environment(), HOME / "embed-opponent.log")
    with closing(mine), closing(theirs):
        for worker in (mine, theirs):
            worker.ask(texts=[*questions[:10], chunks[0]], one_by_one=True)  # warm
        for _ in range(rounds):
            throughput["ours"].append(len(chunks) / mine.ask(texts=chunks, one_by_one=False)[0])
            for size in _BATCHES:
                (took,) = theirs.ask(texts=chunks, one_by_one=False, batch_size=size)
                throughput[f"opponent_{size}"].append(len(chunks) / took)
            latency["ours"] += mine.ask(texts=questions, one_by_one=True)
            latency["opponent"] += theirs.ask(texts=questions, one_by_one=True)
            short_latency["ours"] += mine.ask(texts=short, one_by_one=True)
            short_latency["opponent"] += theirs.ask(texts=short, one_by_one=True)
    cold: dict[str, list[dict[str, float]]] = {"ours": [], "opponent": []}
    for _ in range(cold_starts):
        cold["ours"].append(call(ours.command("embed.py", "cold"), ours.environment()))
        cold["opponent"].append(call(opponents.command("embed.py", "cold"), opponents.environment()))
    return {
        "chunks_per_s": {
            "ours": p50(throughput["ours"]),
            "opponent": max(p50(throughput[f"opponent_{size}"]) for size in _BATCHES),
        },
        "query_ms": {side: p50(values) * 1000 for side, values in latency.items()},
        "short_query_ms": {side: p50(values) * 1000 for side, values in short_latency.items()},
        "cold_ms": {side: p50([start["ms"] for start in starts]) for side, starts in cold.items()},
        "cold_rss_mb": {side: p50([start["rss_mb"] for start in starts]) for side, starts in cold.items()},
        "rounds": rounds,
        "cold_starts": cold_starts,
    }


def _full_chunks(corpus: Corpus, model_dir: Path, count: int) -> list[str]:
    """Texts that fill the model's window exactly."""
    model = OnnxEmbedder(model_dir)
    text = " ".join(corpus.passages)
    chunks: list[str] = []
    while len(chunks) < count:
        spans = model.spans(text[:4_000])
        chunks.append(text[: spans[_TOKENS - 1][1]])
        text = text[spans[_TOKENS - 1][1] :] or " ".join(corpus.passages)
    return chunks


def _short(questions: Sequence[str], model_dir: Path) -> list[str]:
    model = OnnxEmbedder(model_dir)
    return [question for question in questions if len(model.spans(question)) <= _SHORT]
