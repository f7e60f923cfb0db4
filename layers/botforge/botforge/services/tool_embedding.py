"""Where a tool stands in the vector space."""

import math
from collections.abc import Sequence

from botforge.domain.deadline import Deadline
from botforge.domain.tool import ToolDefinition
from botforge.domain.tool_text import parameters_text, tool_text
from botforge.ports.embedding import Embedder, Vector

_BATCH = 16  # texts between two looks at the clock


def tool_vectors(
    embedder: Embedder, definitions: Sequence[ToolDefinition], deadline: Deadline | None = None
) -> list[Vector]:
    """One vector a tool, in order: the mean of its text without and its text with what its parameters are.

    Each text alone finds fewer of the tools that messages ask for (docs/tools.md), and the mean costs a
    query nothing. Raises EmbeddingUnavailable, and DeadlineExceeded between two batches.
    """
    texts = [[tool_text(one), *filter(None, [parameters_text(one)])] for one in definitions]
    wanted = list(dict.fromkeys(text for of_tool in texts for text in of_tool))
    vectors: dict[str, Vector] = {}
    for start in range(0, len(wanted), _BATCH):
        if deadline is not None:
            deadline.check()
        batch = wanted[start : start + _BATCH]
        vectors.update((text, one.vector) for text, one in zip(batch, embedder.embed(batch), strict=True))
    return [_mean([vectors[text] for text in of_tool]) for of_tool in texts]


def _mean(vectors: Sequence[Vector]) -> Vector:
    """Of unit length, as what goes in."""
    if len(vectors) == 1:
        return vectors[0]
    summed = [math.fsum(values) for values in zip(*vectors, strict=True)]
    length = math.hypot(*summed)
    return [value / length for value in summed] if length else vectors[0]
