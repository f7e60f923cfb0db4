"""Where tools stand in the vector space."""

import math
from operator import mul

import pytest
from tests.fakes.embedding import BagOfWordsEmbedder
from tests.fakes.tool_records import a_definition

from botforge.domain.deadline import Deadline
from botforge.domain.errors import DeadlineExceeded
from botforge.domain.tool_text import parameters_text, tool_text
from botforge.ports.embedding import Vector
from botforge.services.tool_embedding import tool_vectors

DESCRIBED = a_definition(
    "convert",
    "Converts.",
    input_schema={"type": "object", "properties": {"unit": {"description": "kilometre, mile, ounce"}}},
)
PLAIN = a_definition("add", "Adds numbers.", input_schema={"type": "object"})


def test_a_tool_stands_between_its_texts_without_and_with_what_its_parameters_are() -> None:
    embedder = BagOfWordsEmbedder()
    plain, described = tool_vectors(embedder, [PLAIN, DESCRIBED])
    told = parameters_text(DESCRIBED)
    assert told is not None
    short, long = (one.vector for one in embedder.embed([tool_text(DESCRIBED), told]))
    assert math.hypot(*described) == pytest.approx(1)
    assert _dot(described, short) == pytest.approx(_dot(described, long))
    assert _dot(described, short) > _dot(short, long)
    assert plain == embedder.embed([tool_text(PLAIN)])[0].vector


def test_many_tools_are_embedded_batch_by_batch_until_the_deadline() -> None:
    embedder = BagOfWordsEmbedder()
    clock = iter(range(100))
    tools = [a_definition(f"tool{number}", "Does.", input_schema={"type": "object"}) for number in range(100)]
    with pytest.raises(DeadlineExceeded):
        tool_vectors(embedder, tools, Deadline(3, lambda: next(clock)))
    assert len(tool_vectors(embedder, tools)) == 100
    assert tool_vectors(embedder, []) == []


def _dot(one: Vector, other: Vector) -> float:
    return sum(map(mul, one, other))
