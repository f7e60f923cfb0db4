"""A warm query without the LLM, by stage, against LangChain's PGVector on the same PostgreSQL."""

from typing import Any

from botforge_dev.benchmarks.contestants import Contestant
from botforge_dev.benchmarks.corpus import Corpus
from botforge_dev.benchmarks.measuring import call, p50, p99
from botforge_dev.benchmarks.tables import LARGE, Tables

# As it comes, LangChain's table has no vector index. With index scans off the plan is that of a table without one.
_NO_INDEX = "?options=-c%20enable_indexscan%3Doff"


def run(ours: Contestant, opponents: Contestant, corpus: Corpus, tables: Tables, *, quick: bool) -> dict[str, Any]:
    """p50 and p99 of every stage in milliseconds, by number of chunks and by contestant."""
    warm_up, measured, slow = (50, 100, 20) if quick else (200, 500, 100)
    found: dict[str, Any] = {}
    for size in tables.sizes:
        # One user's first questions warm the caches; those that are measured are new.
        job = {"user": str(LARGE[0]), "bot": str(LARGE[1]), "warm_up": warm_up}
        own = ours.environment(DATABASE_URL=tables.tenant(size))
        theirs = opponents.environment(DATABASE_URL=tables.langchain(size))
        bare = opponents.environment(DATABASE_URL=tables.langchain(size) + _NO_INDEX)
        questions = corpus.questions[: warm_up + measured]
        few = corpus.questions[: slow + slow // 5]
        runs = {
            "ours": call(ours.command("query.py"), own, {**job, "questions": questions}),
            "with_index": call(opponents.command("query.py"), theirs, {**job, "questions": questions}),
            "as_it_comes": call(opponents.command("query.py"), bare, {**job, "questions": few, "warm_up": slow // 5}),
        }
        found[str(size)] = {name: _summary(values["measured"]) for name, values in runs.items()}
    return found


def _summary(measured: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    stages = measured[0]
    return {
        stage: {"p50": p50([row[stage] for row in measured]), "p99": p99([row[stage] for row in measured])}
        for stage in stages
    }
