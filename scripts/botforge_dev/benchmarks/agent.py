"""What an agent costs for each round of tool calls, beside the LLM and the tool server: ours against LangChain's.

Both speak to one fake LLM over HTTP through the ``openai`` SDK, and to one tool server. The time that those two spend
on a request, measured in them, is taken off; what is left is the agent, its HTTP clients and the loopback. Ours chooses
tools, checks arguments, vets the address and writes its executions to memory: the two rows of PostgreSQL that each
call costs in production are not in it.
"""

import importlib.util
import json
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from botforge_dev.benchmarks.contestants import Contestant
from botforge_dev.benchmarks.measuring import BenchmarkFailed, call, p50, percentile
from botforge_dev.build.layout import ROOT
from botforge_dev.fakes.loopback import Answer, Request, Respond, serve
from botforge_dev.fakes.openai_server import API_KEY, Reply, Scripted, openai_server, tool_calls

ROUNDS = 3  # of calls in a conversation, before its answer


@dataclass(slots=True)
class _Spent:
    """Seconds that a server took for each of its requests, in order."""

    seconds: list[float] = field(default_factory=list[float])

    @contextmanager
    def measured(self) -> Generator[None]:
        start = time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - start)


def run(ours: Contestant, opponents: Contestant, *, quick: bool) -> dict[str, Any]:
    """p50 and p95 of a round's overhead in milliseconds, by contestant."""
    job = {"warm_up": 10, "conversations": 30 if quick else 200, "rounds": ROUNDS}
    return {
        "rounds": ROUNDS,
        "conversations": job["conversations"],
        "ours": _overhead(ours, job),
        "opponent": _overhead(opponents, job),
    }


def _overhead(contestant: Contestant, job: dict[str, Any]) -> dict[str, float]:
    llm, tools = _Spent(), _Spent()
    execute = _example_tools().execute

    def think(body: dict[str, Any]) -> Scripted:
        with llm.measured():
            done = sum(message["role"] == "tool" for message in body["messages"])
            return tool_calls(("calculator", {"expression": f"{done} + 1"})) if done < ROUNDS else Reply("Done.")

    def act(request: Request) -> Answer:
        with tools.measured():
            asked = json.loads(request.body)
            return Respond(*execute(asked["tool_name"], asked["parameters"]))

    with openai_server(think) as model, serve(act) as url:
        places = {"llm": model.url, "key": API_KEY, "tools": url}
        totals: list[float] = call(contestant.command("agent.py"), contestant.environment(), {**job, **places})[
            "totals"
        ]
    if (len(llm.seconds), len(tools.seconds)) != (len(totals) * (ROUNDS + 1), len(totals) * ROUNDS):
        raise BenchmarkFailed("A conversation had more or fewer calls than it should.")
    overheads = [
        (total - sum(_of(llm, place, ROUNDS + 1)) - sum(_of(tools, place, ROUNDS))) * 1000 / (ROUNDS + 1)
        for place, total in enumerate(totals)
    ][job["warm_up"] :]
    return {"p50": p50(overheads), "p95": percentile(overheads, 95)}


def _of(spent: _Spent, conversation: int, requests: int) -> list[float]:
    return spent.seconds[conversation * requests : (conversation + 1) * requests]


def _example_tools() -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location("example_tool_server", ROOT / "examples" / "tool_server.py")
    assert spec is not None and spec.loader is not None, "the file is there"  # noqa: S101, PT018
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
