"""The page that the figures are published on."""

import platform
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from botforge_dev.benchmarks.contestants import Contestant
from botforge_dev.build.toolchain import output

_STAGES = ("bot", "embed", "index", "retrieve", "answer", "record", "total")
_NAMES = {
    "ours": "BotForge",
    "with_index": "LangChain PGVector, HNSW index added by hand",
    "as_it_comes": "LangChain PGVector as it comes (no vector index)",
}
_SIDES = ("ours", "opponent")


def machine(contestant: Contestant) -> dict[str, str]:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    load = Path("/proc/loadavg")
    return {
        "cpu": model or platform.processor() or platform.machine(),
        "system": platform.system(),
        "python": output([str(contestant.python), "-c", "import platform; print(platform.python_version())"]) or "",
        "load": load.read_text().split()[0] if load.exists() else "unknown",
        "date": datetime.now(UTC).date().isoformat(),
    }


def markdown(found: dict[str, Any]) -> str:
    """``found`` as ``__main__`` collects it: one entry a benchmark."""
    parts = (_introduction, _embedding, _init, _query, _recall, _selection, _agent, _faults, _shortfalls)
    return "\n\n".join(part(found) for part in parts) + "\n"


def _agent(found: dict[str, Any]) -> str:
    values = found["agent"]
    sides = (("BotForge", values["ours"]), ("LangChain agent", values["opponent"]))
    rows = "\n".join(f"| {name} | {side['p50']:.2f} | {side['p95']:.2f} |" for name, side in sides)
    return f"""## The agent, for each turn of the model

{values["conversations"]} conversations of {values["rounds"]} calls and an answer, one fake LLM and one tool server for
both. The time that those two spend on a request is taken off: what is left is the agent, its HTTP clients and loopback.
BotForge's share holds the choice of tools, the check of arguments and the egress guard, and a new connection for every
call; the two rows of PostgreSQL that a call costs in production are not in it.

| ms per turn | p50 | p95 |
|---|---|---|
{rows}"""


def _selection(found: dict[str, Any]) -> str:
    values = found["selection"]
    kinds = (("one", "one thing"), ("three", "three things"))
    rows = [[name, _figure(values[kind]["p50"]), _figure(values[kind]["p99"])] for kind, name in kinds]
    return f"""## Choosing tools

`./scripts/bench --only selection`: the eight tools for a message out of the {values["tools"]:,} of a bot, in
milliseconds, PostgreSQL on the same core, the message's embedding apart. Aim: 10. How well they are chosen:
[tools.md](tools.md).

{_table(["a message that asks for", "p50", "p99"], rows)}"""


def _faults(found: dict[str, Any]) -> str:
    values = found["faults"]
    kinds = (("idempotent", "declared idempotent"), ("unsafe", "not declared (unsafe)"))
    columns = ("requests", "faults", "succeeded", "failed", "unknown", "effects_twice", "claimed_without_effect")
    rows = [[name, *(f"{values[kind][column]:,}" for column in columns)] for kind, name in kinds]
    return f"""## Calls of tools under faults

`./scripts/bench --only faults`: {values["calls"]:,} calls each through the product's executor and REST transport to a
server of which one request in ten meets a reset, a 500, an answer that never comes or garbage, half of them after the
tool has run. Aims: at least 99 % of idempotent calls succeed; no effect twice. An unsafe call is never repeated once it
may have arrived: its outcome is `unknown`, and said to be.

{_table(["tools", *(column.replace("_", " ") for column in columns)], rows)}"""


def _shortfalls(found: dict[str, Any]) -> str:
    """The aims that this run missed; what each takes is known from profiles, and does not change from run to run."""
    largest = found["query"]["100000"]["ours"]["total"]
    latency = {side: found["embedding"]["short_query_ms"][side] for side in _SIDES}
    init = found["init"]["ms"]
    missed = {
        "A warm query at 100,000 chunks (10 / 30 ms): embedding the question is bound by one core's arithmetic, and "
        "the lexical search, which LangChain does not do, takes most of the rest. What would help: int8 for questions "
        "and passages alike (half the time to embed, other vectors), and a core for PostgreSQL of its own.": (
            largest["p50"] > 10 or largest["p99"] > 30
        ),
        "Embedding latency (3×): see the note on latency above; short questions come nearest.": (
            latency["opponent"] / latency["ours"] < 3
        ),
        "Init of `query` with an LLM configured (8×): importing the `openai` SDK takes the difference. SnapStart takes "
        "the whole of it off a cold start.": init[found["init"]["opponent"]] / init["query, with an LLM configured"]
        < 8,
        "Recall of the index at 100,000 chunks (0.95): these chunks are mixtures of a thousand passages, nearer to "
        "each other than documents are. What would help: a higher `hnsw.ef_search`.": found["recall"]["all"] < 0.95,
    }
    lines = "\n".join(f"- {why}" for why, is_missed in missed.items() if is_missed)
    return f"## Short of the aims\n\n{lines}" if lines else "## Short of the aims\n\nNothing in this run."


def _introduction(found: dict[str, Any]) -> str:
    about = found["machine"]
    return f"""# Benchmarks

Written by `./scripts/bench` on {about["date"]}; do not edit. Both sides ran in this one run, in turns, on the same
single core, with one thread, on Python {about["python"]}, with bytecode compiled beforehand, from a warm file cache.

Machine: {about["cpu"]}, {about["system"]}, load average {about["load"]} when the run began.
Milliseconds belong to that machine at that hour: a load average above zero means that other programs took part of the
core, which lengthens every figure and p99 most of all. Ratios hold better, as both sides suffered alike.
`./scripts/bench --only NAME` repeats one table; `--quick` all of them, smaller."""


def _embedding(found: dict[str, Any]) -> str:
    values = found["embedding"]
    rows = [
        _compared("256-token chunks per second", values["chunks_per_s"], more_is_better=True),
        _compared("single query, p50 (ms)", values["query_ms"]),
        _compared("single query of at most 12 tokens, p50 (ms)", values["short_query_ms"]),
        _compared("cold: import, load, first query (ms)", values["cold_ms"]),
        _compared("memory after that (MB)", values["cold_rss_mb"]),
    ]
    return f"""## Embedding

`./scripts/bench --only embedding`: all-MiniLM-L6-v2 by `OnnxEmbedder` and by sentence-transformers on torch (the better
of batches of 8 and 32), medians of {values["rounds"]} rounds and {values["cold_starts"]} cold starts. The vectors are
the same (cosine ≥ 0.9999). Aims: latency 3×, cold path 20×, at equal throughput.

{_table(["", "BotForge", "sentence-transformers", "ratio"], rows)}

Throughput: both sides compute in float32 and multiply matrices at what one core can do. int8 is about twice as fast
(ADR 0002), and its vectors depend on their batch. Latency: what sentence-transformers adds to the model's own
arithmetic is the same for any question, so the ratio falls as questions grow longer."""


def _init(found: dict[str, Any]) -> str:
    values = found["init"]
    opponent = values["ms"][values["opponent"]]
    rows = [
        [name, f"{took:.0f}", f"{values['rss_mb'][name]:.0f}", f"{opponent / took:.1f}×"]
        for name, took in values["ms"].items()
    ]
    return f"""## Init

`./scripts/bench --only init`: a fresh process imports `functions/*/app.py`; where the function embeds, its first
embedding is included. Medians of {values["starts"]} processes. The opponent is one handler that does it all: FastAPI,
Mangum, boto3, a LangChain agent with a retriever, ChatOpenAI, PGVector, HuggingFaceEmbeddings (sentence-transformers),
and its first embedding. Aim for `query`: 8×.

{_table(["function", "ms", "MB", "ratio to the LangChain handler"], rows)}

On Lambda files come from a cold disk, which weighs more on the larger side; that is not measured here."""


def _query(found: dict[str, Any]) -> str:
    rows: list[list[str]] = []
    ratios: list[list[str]] = []
    for size, contestants in found["query"].items():
        for name, stages in contestants.items():
            cells = [_both(stages[stage]) if stage in stages else "" for stage in _STAGES]
            rows.append([f"{int(size):,}", _NAMES[name], *cells])
        ours = contestants["ours"]["total"]["p50"]
        others = [contestants[name]["total"]["p50"] / ours for name in _NAMES if name != "ours"]
        ratios.append([f"{int(size):,}", *(f"{ratio:.1f}×" for ratio in others)])
    return f"""## A warm query without the LLM

`./scripts/bench --only query`: new questions to the real services, as the tenant's role, up to the prompt, with an LLM
that answers at once; PostgreSQL runs on the same core. BotForge does more in that time: it checks the bot, searches by
words as well as by vector, compares sentences, and records the query. p50 / p99 in milliseconds. Aims at 100,000
chunks: 10 / 30.

{_table(["chunks", "", *_STAGES], rows)}

How many times longer LangChain takes (p50):

{_table(["chunks", "with an HNSW index added", "as it comes"], ratios)}

The chunks: {found["passages"]:,} passages of {found["source"]} with their real embeddings; the others join sentences
of two passages and have the mean of their vectors, plus a random vector of length 0.3."""


def _recall(found: dict[str, Any]) -> str:
    values = found["recall"]
    size = values["size"]
    rows = [
        [f"{size:,} of {size + size // 100:,}", f"{values['all']:.3f}"],
        [f"{size // 100:,} of {size + size // 100:,}", f"{values['hundredth']:.3f}"],
    ]
    return f"""## Recall of the vector index

`./scripts/bench --only recall`: `PgVectorIndex` (HNSW over half precision) against exact search over single precision,
{values["questions"]} questions, mean recall@10.

{_table(["vectors of the namespace in the table", "recall@10"], rows)}"""


def _compared(name: str, values: dict[str, float], *, more_is_better: bool = False) -> list[str]:
    ours, opponent = (values[side] for side in _SIDES)
    ratio = ours / opponent if more_is_better else opponent / ours
    return [name, _figure(ours), _figure(opponent), f"{ratio:.1f}×"]


def _both(values: dict[str, float]) -> str:
    return f"{_figure(values['p50'])} / {_figure(values['p99'])}"


def _figure(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    aligned = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, aligned, *rows])
