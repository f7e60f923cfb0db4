"""Import and init of each function in a fresh process, against one LangChain handler that does it all."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from botforge_dev.benchmarks.contestants import Contestant
from botforge_dev.benchmarks.measuring import call, p50
from botforge_dev.benchmarks.tables import Tables
from botforge_dev.build.layout import ROOT

_LLM = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": "http://127.0.0.1:1"}
_OPPONENT = "LangChain handler"


def run(ours: Contestant, opponents: Contestant, tables: Tables, *, quick: bool) -> dict[str, Any]:
    """Milliseconds and MB, the median of several processes; sides take turns."""
    starts = 3 if quick else 7
    own = ours.environment(
        DATABASE_URL=tables.tenant(min(tables.sizes)),
        BUCKET="documents",
        POWERTOOLS_METRICS_NAMESPACE="BotForge",
        POWERTOOLS_SERVICE_NAME="benchmark",
    )
    theirs = opponents.environment(DATABASE_URL=tables.langchain(min(tables.sizes)))
    contestants: dict[str, tuple[Sequence[str], dict[str, str]]] = {
        _OPPONENT: (opponents.command("init.py"), theirs),
        "query": (ours.command("init.py", "query"), own),
    }
    if find_spec("botforge.adapters.llm.openai"):
        contestants["query, with an LLM configured"] = (ours.command("init.py", "query"), {**own, **_LLM})
    for folder in sorted(path.parent.name for path in (ROOT / "functions").glob("*/app.py")):
        contestants.setdefault(folder, (ours.command("init.py", folder), own))
    found: dict[str, list[dict[str, float]]] = {name: [] for name in contestants}
    for _ in range(starts):
        for name, (command, environment) in contestants.items():
            found[name].append(call(command, environment))
    return {
        "opponent": _OPPONENT,
        "starts": starts,
        "ms": {name: p50([start["ms"] for start in values]) for name, values in found.items()},
        "rss_mb": {name: p50([start["rss_mb"] for start in values]) for name, values in found.items()},
    }
