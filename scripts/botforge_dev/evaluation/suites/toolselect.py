"""``toolselect``: every tool of the folder in one bot, and for each message the tools that the agent would be offered.

Similarity alone decides, through the product's own selection; no LLM, and nothing is called. As names repeat among the
tools, each is of a server of its own. ``rows`` are those that expect exactly one tool, as the data's own figures count
them; ``several`` are those that expect more, where a row counts by the share of its tools that was found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import mul
from pathlib import Path
from typing import Any
from uuid import uuid4

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.domain.agent import MAX_TOOLS
from botforge.domain.ids import BotId, ToolId, ToolServerId, UserId
from botforge.domain.tool import (
    Dialect,
    ServerHealth,
    ServerTool,
    Tool,
    ToolDefinition,
    ToolProtocol,
    ToolServer,
    ToolStatus,
)
from botforge.ports.embedding import Embedder, Vector
from botforge.services.tool_embedding import tool_vectors
from botforge.services.tool_selection import ToolSelector
from botforge_dev.evaluation.datasets import DataError, read_lines
from botforge_dev.evaluation.metrics import mean, recall_at
from botforge_dev.evaluation.remembering import Remembering
from botforge_dev.model.weights import MODEL_DIR, ensure_weights

_USER, _BOT = UserId(uuid4()), BotId(uuid4())


@dataclass(slots=True)
class Registry:
    """CallableTools over a list: exactly the cosines that the database's exact search gives."""

    tools: Sequence[tuple[ServerTool, Vector]]

    def nearest(
        self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int
    ) -> Sequence[tuple[ServerTool, float]]:
        found = self.nearest_to_any(user_id, bot_id, [vector], limit=limit)
        return sorted([(tool, cosine) for tool, (cosine,) in found], key=lambda pair: -pair[1])

    def nearest_to_any(
        self, user_id: UserId, bot_id: BotId, vectors: Sequence[Vector], *, limit: int
    ) -> Sequence[tuple[ServerTool, Sequence[float]]]:
        del user_id, bot_id  # there is one bot
        cosines = [[sum(map(mul, vector, own)) for vector in vectors] for _, own in self.tools]
        places = range(len(self.tools))
        best = {
            place
            for part in range(len(vectors))
            for place in sorted(places, key=lambda place: -cosines[place][part])[:limit]
        }
        return [(self.tools[place][0], cosines[place]) for place in sorted(best)]

    def callable_count(self, user_id: UserId, bot_id: BotId) -> int:
        del user_id, bot_id
        return len(self.tools)

    def withheld(self, user_id: UserId, bot_id: BotId) -> Sequence[str]:
        del user_id, bot_id
        return ()


def run(folder: Path, split: str, report: Callable[[str], None]) -> dict[str, Any]:
    """``top_1`` among a row's candidates, ``recall_at_8`` among all tools of the folder."""
    ensure_weights()
    return measured(folder, split, OnnxEmbedder(MODEL_DIR), report)


def measured(folder: Path, split: str, model: Embedder, report: Callable[[str], None]) -> dict[str, Any]:
    embedder = Remembering(model)
    described = {row["tool_id"]: _tool(row) for row in read_lines(folder / "tools.jsonl")}
    rows = [row for row in read_lines(folder / f"{split}.jsonl") if row["expected_calls"]]
    if not rows:
        raise DataError(f"{folder}/{split}.jsonl expects no call at all.")
    report(f"{len(described)} tools, {len(rows)} messages that expect a call")
    vectors = tool_vectors(embedder, [tool.tool.definition for tool in described.values()])
    registered = {tool_id: (tool, vector) for (tool_id, tool), vector in zip(described.items(), vectors, strict=True)}
    everything = ToolSelector(embedder, Registry(list(registered.values())))
    found: list[tuple[int, float, float]] = []
    for row in rows:
        gold = _gold(row, described)
        among_all = _chosen(everything, row["query"], MAX_TOOLS)
        candidates = [registered[tool_id] for tool_id in [*row["tool_ids"], *row["distractor_ids"]]]
        first = _chosen(ToolSelector(embedder, Registry(candidates)), row["query"], 1)
        found.append((len(gold), float(first[0] in gold), recall_at(among_all, gold, MAX_TOOLS)))
    one = [each for each in found if each[0] == 1]
    several = [each for each in found if each[0] > 1]
    return {"tools": len(described), **_figures(one), "several": _figures(several), "all": _figures(found)}


def _figures(found: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    return {
        "rows": len(found),
        "top_1": mean(first for _, first, _ in found),
        "recall_at_8": mean(recalled for _, _, recalled in found),
    }


def _chosen(selector: ToolSelector, text: str, limit: int) -> list[str]:
    return [tool.tool.definition.digest for tool in selector.select(_USER, _BOT, text, limit=limit).tools]


def _gold(row: Mapping[str, Any], described: Mapping[str, ServerTool]) -> set[str]:
    names = {call["name"] for call in row["expected_calls"]}
    gold = {tool_id for tool_id in row["tool_ids"] if described[tool_id].tool.definition.name in names}
    if not gold:
        raise DataError(f"{row['id']}: the call that is expected is of no tool of the row.")
    return gold


def _tool(row: Mapping[str, Any]) -> ServerTool:
    now = datetime.now(UTC)
    server = ToolServer(
        id=ToolServerId(uuid4()),
        bot_id=_BOT,
        user_id=_USER,
        name=row["tool_id"],
        endpoint_url="https://tools.example.com",
        description="",
        is_active=True,
        timeout_seconds=30,
        retry_attempts=0,
        protocol=ToolProtocol.REST,
        dialect=Dialect.REST,
        policies={},
        sealed_credential=None,
        credential_kind=None,
        health=ServerHealth(),
        created_at=now,
        updated_at=now,
    )
    # The digest tells a tool of the folder from its namesakes.
    definition = ToolDefinition(row["name"], row["description"], row["inputSchema"], digest=row["tool_id"])
    return ServerTool(server, Tool(ToolId(uuid4()), server.id, _BOT, definition, ToolStatus.ACTIVE, None, now, now))
