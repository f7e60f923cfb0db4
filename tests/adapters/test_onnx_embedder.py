"""What only the ONNX adapter has: files that can be damaged, one thread, and a layer without the hub's client."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.domain.errors import EmbeddingUnavailable

Damage = Callable[[Path], Any]


@pytest.fixture
def copied(model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_dir, tmp_path / "model"))


def _resize(name: str) -> Damage:
    return lambda folder: os.truncate(folder / name, (folder / name).stat().st_size - 2)


def _remove(name: str) -> Damage:
    return lambda folder: (folder / name).unlink()


def _scramble(name: str) -> Damage:
    """The same size, other bytes: what a size check cannot see."""
    return lambda folder: (folder / name).write_bytes(b"\xff" * (folder / name).stat().st_size)


def _manifest(content: object) -> Damage:
    return lambda folder: (folder / "manifest.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_remove("manifest.json"), "embedding_model_missing"),
        (_remove("model.onnx"), "embedding_model_missing"),
        (_remove("weights.data"), "embedding_model_missing"),
        (_remove("tokenizer.json"), "embedding_model_missing"),
        (_resize("model.onnx"), "embedding_model_damaged"),
        (_resize("weights.data"), "embedding_model_damaged"),
        (_resize("tokenizer.json"), "embedding_model_damaged"),
        (_resize("manifest.json"), "embedding_model_damaged"),
        (_scramble("model.onnx"), "embedding_model_damaged"),
        (_scramble("tokenizer.json"), "embedding_model_damaged"),
        (_scramble("manifest.json"), "embedding_model_damaged"),
        (_manifest([]), "embedding_model_damaged"),
        (_manifest({"files": []}), "embedding_model_damaged"),
        (_manifest({"files": {"model.onnx": 1}}), "embedding_model_damaged"),
        (_manifest({"files": {}, "model_id": "x", "dimension": None, "max_tokens": 256}), "embedding_model_damaged"),
    ],
)
def test_a_missing_or_damaged_file_is_a_defined_error(copied: Path, damage: Damage, code: str) -> None:
    damage(copied)

    with pytest.raises(EmbeddingUnavailable) as caught:
        OnnxEmbedder(copied)

    assert caught.value.code == code
    assert caught.value.next_step is not None


def test_weights_that_make_no_numbers_are_an_error_and_never_a_vector(copied: Path) -> None:
    _scramble("weights.data")(copied)

    with pytest.raises(EmbeddingUnavailable):
        OnnxEmbedder(copied).embed(["hello"])


def _run(script: str, model_dir: Path, **environment: str) -> str:
    completed = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", script, str(model_dir)],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.strip()


WITHOUT_THE_HUB = """
import sys
from pathlib import Path
sys.modules.update(dict.fromkeys(["huggingface_hub", "hf_xet", "google.protobuf", "flatbuffers", "packaging"]))
from botforge.adapters.embedding.onnx import OnnxEmbedder
model = OnnxEmbedder(Path(sys.argv[1]))
print(len(model.embed(["hello"])[0].vector), model.spans("hello world"))
"""


def test_the_packages_that_the_layer_leaves_out_are_not_missed(model_dir: Path) -> None:
    assert _run(WITHOUT_THE_HUB, model_dir) == "384 [(0, 5), (6, 11)]"


ONE_THREAD = """
import os, sys
from pathlib import Path
from botforge.adapters.embedding.onnx import OnnxEmbedder
threads = lambda: len(os.listdir("/proc/self/task"))
before = threads()
model = OnnxEmbedder(Path(sys.argv[1]))
model.embed([f"text number {number}" for number in range(64)])
print(threads() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted where Linux shows them")
def test_embedding_starts_no_thread_of_its_own(model_dir: Path) -> None:
    assert _run(ONE_THREAD, model_dir) == "0"
