"""What is deployed fits: into Lambda's limit, and into our own for the function that people wait for."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from botforge_dev.build.layout import Architecture
from botforge_dev.build.sizes import LAMBDA_LIMIT_BYTES, measure, table

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_QUERY_LIMIT_BYTES = 220_000_000


@pytest.mark.parametrize("architecture", list(Architecture))
def test_every_function_fits_with_its_layers_model_and_bytecode(
    architecture: Architecture, build: Callable[[Architecture], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = measure(build(architecture))
    with capsys.disabled():
        sys.stdout.write(f"\n{architecture.value}\n{table(sizes)}\n")
    assert all(size.has_bytecode for size in sizes), "no Python of the runtime's version: the sizes would flatter"
    assert all(size.total <= LAMBDA_LIMIT_BYTES for size in sizes)
    (query,) = (size for size in sizes if size.logical_id == "QueryFunction")
    assert query.total <= _QUERY_LIMIT_BYTES
    assert (build(architecture) / "EmbeddingLayer" / "model" / "model.onnx").is_file()
