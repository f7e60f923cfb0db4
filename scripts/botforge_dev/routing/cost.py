"""``python -m botforge_dev.routing.cost``: what the head costs beside the embedding, in milliseconds, in this process.

Every message of ``same_domain.toml`` to its bot of seven tools; set OMP_NUM_THREADS=1 for one core.
"""

import statistics
import time
from collections.abc import Callable, Sequence

import numpy as np

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.routing.features import tool_features
from botforge.adapters.routing.head import RoutingHead
from botforge.adapters.routing.weights import load
from botforge.domain.routing import ToolEvidence
from botforge.domain.tool import ToolDefinition
from botforge.domain.tool_text import tool_text
from botforge.domain.wording import wording
from botforge_dev.model.weights import MODEL_DIR, ensure_weights
from botforge_dev.routing.corpus import SAME_DOMAIN, authored

Question = tuple[str, Sequence[float], list[ToolEvidence]]

_ROUNDS = 3


def main() -> None:
    ensure_weights()
    embedder, head, arrays = OnnxEmbedder(MODEL_DIR), RoutingHead(), load().arrays
    questions = _questions(embedder)
    parts: dict[str, Callable[[Question], object]] = {
        "embedding": lambda question: embedder.embed([question[0]]),
        "wording": lambda question: wording(question[0]),
        "tools": lambda question: tool_features(
            question[0], np.asarray(question[1], dtype=np.float32), question[2], arrays
        ),
        "head, all of it": lambda question: head.p_execution(*question),
    }
    for name, part in parts.items():
        taken: list[float] = []
        for question in questions * _ROUNDS:
            start = time.perf_counter()
            part(question)
            taken.append((time.perf_counter() - start) * 1000)
        cut = statistics.quantiles(taken, n=100)
        print(f"{name}: {cut[49]:.2f} ms p50, {cut[98]:.2f} ms p99")


def _questions(embedder: OnnxEmbedder) -> list[Question]:
    sentences, tools = authored(SAME_DOMAIN, "same_domain")
    texts = [tool_text(ToolDefinition(tool.name, tool.description, {}, digest="")) for tool in tools]
    by_key = dict(zip((tool.key for tool in tools), zip(tools, embedder.embed(texts), strict=True), strict=True))
    questions: list[Question] = []
    for sentence, embedded in zip(sentences, embedder.embed([one.text for one in sentences]), strict=True):
        evidence: list[ToolEvidence] = []
        for key in sentence.bot or ():
            tool, vector = by_key[key][0], by_key[key][1].vector
            cosine = sum(one * other for one, other in zip(embedded.vector, vector, strict=True))
            evidence.append(ToolEvidence(tool.name, tool.description, cosine, vector))
        questions.append((sentence.text, embedded.vector, evidence))
    return questions


if __name__ == "__main__":
    main()
