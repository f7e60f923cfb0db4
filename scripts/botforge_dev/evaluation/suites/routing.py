"""``routing``: what the product's router makes of labelled messages to bots whose tools are known, without any LLM.

The folder holds ``{split}.jsonl`` (id, text, label, source, hard), ``{split}.bot_tools.jsonl`` (id, bot_tools: keys)
and ``tools.jsonl`` (key, name, description).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.routing.head import RoutingHead
from botforge.domain.ids import BotId, UserId
from botforge.domain.query import Intent
from botforge.domain.routing import ExampleEvidence, Routing, ToolEvidence
from botforge.domain.tool import ToolDefinition
from botforge.domain.tool_text import tool_text
from botforge.ports.embedding import Embedding, Vector
from botforge.services.routing import Router
from botforge_dev.evaluation.datasets import DataError, read_lines
from botforge_dev.evaluation.metrics import mean
from botforge_dev.model.weights import MODEL_DIR, ensure_weights
from botforge_dev.routing.outcomes import Message, Outcome, figures

BestOf = Callable[[Message], float | None]

_USER, _BOT = UserId(UUID(int=1)), BotId(UUID(int=2))


@dataclass(slots=True)
class Laboratory:
    """The product's router over tools and vectors in memory; ``tools`` are those of the bot that is asked."""

    vectors: Mapping[str, Embedding]
    known: Mapping[str, ToolEvidence]
    model: RoutingHead
    model_id: str  # of the model that made the vectors: the head is trusted with its own model's alone
    tools: tuple[str, ...] = ()
    dimension: int = 384

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return [self.vectors[text] for text in texts]

    def nearest(self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int) -> Sequence[ToolEvidence]:
        del user_id, bot_id
        found = [_measured(self.known[key], vector) for key in self.tools]
        return sorted(found, key=lambda tool: -tool.cosine)[:limit]

    def route(self, message: Message, best_passage: BestOf) -> Routing:
        self.tools = message.tools
        router = Router(embedder=self, tools=self, examples=_NoExamples(), model=self.model)
        return router.route(_USER, _BOT, message.text, best_passage=lambda: best_passage(message))


class _NoExamples:
    def nearest(self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int) -> Sequence[ExampleEvidence]:
        del user_id, bot_id, vector, limit
        return ()


def run(folder: Path, split: str, report: Callable[[str], None]) -> dict[str, Any]:
    """Accuracy over all, on hard messages, at 90 % coverage; calibration; and the same for every source and label."""
    outcomes = routed(folder, split, report)
    sources = sorted({outcome.message.source for outcome in outcomes})
    by_source = {name: figures([one for one in outcomes if one.message.source == name]) for name in sources}
    return {
        **figures(outcomes),
        "macro": {
            name: mean(of[name] for of in by_source.values() if of[name] is not None)
            for name in ("accuracy", "accuracy_hard", "accuracy_at_90")
        },
        "labels": {
            label: figures([one for one in outcomes if one.message.acts == acts])
            for label, acts in (("execution", True), ("information_retrieval", False))
        },
        "sources": by_source,
    }


def _no_documents(_message: Message) -> None:
    return None


def routed(
    folder: Path, split: str, report: Callable[[str], None], *, best_passage: BestOf = _no_documents
) -> list[Outcome]:
    """What the router makes of every message of the split. Raises DataError.

    ``best_passage``: the relevance of the best passage in the documents of the message's bot.
    """
    messages = _messages(folder, split)
    definitions = {
        row["key"]: ToolDefinition(row["name"], row["description"], {}, digest="")
        for row in read_lines(folder / "tools.jsonl")
    }
    needed = sorted({key for message in messages for key in message.tools})
    unknown = [key for key in needed if key not in definitions]
    if unknown:
        raise DataError(f"{folder}/tools.jsonl does not describe {unknown[0]}.")
    report(f"embedding {len(messages)} messages and {len(needed)} tools")
    ensure_weights()
    embedder = OnnxEmbedder(MODEL_DIR)
    texts = list({message.text for message in messages})
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    embedded = embedder.embed([tool_text(definitions[key]) for key in needed])
    known = {
        key: ToolEvidence(definitions[key].name, definitions[key].description, 0.0, one.vector)
        for key, one in zip(needed, embedded, strict=True)
    }
    laboratory = Laboratory(vectors, known, RoutingHead(), embedder.model_id)
    report("routing")
    return [Outcome(message, laboratory.route(message, best_passage)) for message in messages]


def _messages(folder: Path, split: str) -> list[Message]:
    tools = {row["id"]: tuple(row["bot_tools"]) for row in read_lines(folder / f"{split}.bot_tools.jsonl")}
    messages: list[Message] = []
    for row in read_lines(folder / f"{split}.jsonl"):
        if row["id"] not in tools:
            raise DataError(f"{split}.bot_tools.jsonl names no tools for {row['id']}.")
        acts = row["label"] == Intent.EXECUTION
        messages.append(Message(row["text"], acts, row["source"], bool(row.get("hard")), tools[row["id"]]))
    if not messages:
        raise DataError(f"{folder}/{split}.jsonl is empty.")
    return messages


def _measured(tool: ToolEvidence, vector: Vector) -> ToolEvidence:
    cosine = sum(one * other for one, other in zip(tool.vector, vector, strict=True))
    return ToolEvidence(tool.name, tool.description, cosine, tool.vector)
