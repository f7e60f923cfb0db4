"""What the head looks at: the message's wording and text scores, and how the bot's tools compare with other tools."""

# numpy's overloads are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from botforge.adapters.routing.lexical import gram_slots, gram_weight, overlap, stems
from botforge.adapters.routing.weights import Arrays
from botforge.domain.routing import MAX_TOOLS, ToolEvidence
from botforge.domain.wording import NAMES as WORDING_NAMES
from botforge.domain.wording import wording

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.float64]

_SAME = 0.995  # cosine from which a background tool is the bot's own
_LEXICAL_TOOLS = 4
_NEAREST = 5  # of the background

TOOL_NAMES: tuple[str, ...] = (
    "cosine", "cosine_second", "cosine_margin", "cosine_above_rest", "cosine_standardised", "cosine_above_background",
    "cosine_above_near_background", "background_nearer", "background_mean",
    "shared_of_message", "shared_of_name", "shared_weight", "best_shared_of_message", "best_shared_of_name",
    "best_shared_weight",
    "pair", "pair_margin", "pair_unusual", "pair_most_unusual", "pair_above_background", "pair_above_near_background",
    "pair_standardised", "pair_background_nearer", "cosine_most_unusual", "pair_background", "tools",
)  # fmt: skip
NAMES: tuple[str, ...] = ("text_embedding", "text_grams", *WORDING_NAMES, *TOOL_NAMES)


def features(text: str, vector: Floats, tools: Sequence[ToolEvidence], arrays: Arrays) -> Numbers:
    """One number for each of ``NAMES``. ``tools``: at least one; the first ``MAX_TOOLS`` count."""
    form = np.array(wording(text), dtype=np.float32)
    slots = gram_slots(text)
    by_embedding = arrays.text_embedding @ np.concatenate([vector, form]) + arrays.text_biases[0]
    by_grams = arrays.text_grams[slots].sum() * gram_weight(slots)
    by_grams += arrays.text_grams_wording @ form + arrays.text_biases[1]
    return np.concatenate([[by_embedding, by_grams], form, tool_features(text, vector, tools[:MAX_TOOLS], arrays)])


def tool_features(text: str, vector: Floats, tools: Sequence[ToolEvidence], arrays: Arrays) -> Numbers:
    """One number for each of ``TOOL_NAMES``."""
    ordered = sorted(tools, key=lambda tool: -tool.cosine)
    matrix = np.array([tool.vector for tool in ordered], dtype=np.float32)
    others = arrays.background[(arrays.background @ matrix.T).max(axis=1) < _SAME]
    return np.concatenate(
        [
            _cosine_features(matrix @ vector, others @ vector),
            _lexical_features(text, ordered[:_LEXICAL_TOOLS], arrays),
            _pair_features(vector, matrix, others, arrays),
        ]
    )


def _cosine_features(cosines: Floats, background: Floats) -> Numbers:
    mean, spread = background.mean(), background.std() + 1e-6
    second = cosines[1] if len(cosines) > 1 else cosines[0]
    return np.array(
        [
            cosines[0],
            second,
            cosines[0] - second,
            cosines[0] - cosines[min(len(cosines), 4) // 2 :].mean(),
            (cosines[0] - mean) / spread / 5,
            cosines[0] - background.max(),
            cosines[0] - np.sort(background)[-_NEAREST:].mean(),
            (background > cosines[0]).mean(),
            mean,
        ],
        dtype=np.float64,
    )


def _lexical_features(text: str, tools: Sequence[ToolEvidence], arrays: Arrays) -> Numbers:
    message = stems(text)
    shares = [overlap(message, stems(tool.name), stems(tool.description), arrays.idf) for tool in tools]
    return np.array([*shares[0], *(max(of_tools) for of_tools in zip(*shares, strict=True))])


def _pair_features(vector: Floats, matrix: Floats, others: Floats, arrays: Arrays) -> Numbers:
    projected = vector @ arrays.pairing
    pairs, background = matrix @ projected, others @ projected
    # How unusual each similarity is for that tool, measured by questions that need no tool.
    towards = matrix @ arrays.pairing.T
    unusual = (pairs - towards @ arrays.questions_mean) / _spread(towards, arrays)
    cosines_unusual = (matrix @ vector - matrix @ arrays.questions_mean) / _spread(matrix, arrays)
    order = np.argsort(-pairs)
    best, near = pairs[order[0]], np.sort(background)[-_NEAREST:]
    return np.array(
        [
            best,
            best - (pairs[order[1]] if len(pairs) > 1 else best),
            unusual[order[0]],
            unusual.max(),
            best - near[-1],
            best - near.mean(),
            (best - background.mean()) / (background.std() + 1e-6),
            (background > best).mean(),
            cosines_unusual.max(),
            near[-1],
            np.log(len(pairs)),
        ],
        dtype=np.float64,
    )


def _spread(directions: Floats, arrays: Arrays) -> Floats:
    """Standard deviation of the questions' similarity to each direction."""
    return np.sqrt(np.maximum(((directions @ arrays.questions_spread) * directions).sum(axis=1), 1e-9))
