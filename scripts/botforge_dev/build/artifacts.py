"""What each function and layer of `template.yaml` is made of."""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from botforge_dev.build.bytecode import compile_tree
from botforge_dev.build.dependencies import Dependencies, install
from botforge_dev.build.layout import EPOCH_S, ROOT, Architecture
from botforge_dev.build.toolchain import BuildFailed
from botforge_dev.build.trim import trim

# tokenizers fetches from the Hugging Face hub with huggingface-hub; onnxruntime reads and writes ONNX files in Python
# with protobuf and flatbuffers. The model lies in the layer and is read by the native library.
_EMBEDDING = Dependencies("embedding", prune=("huggingface-hub", "protobuf", "flatbuffers", "packaging"))


def build(logical_id: str, target: Path, architecture: Architecture) -> None:
    """Make the artefact of one resource of the template in ``target``, a folder that is empty or absent.

    Raises BuildFailed for a resource that is none of ours, or when a step fails.
    """
    target.mkdir(parents=True, exist_ok=True)
    if logical_id in _LAYERS:
        _LAYERS[logical_id](target, architecture)
    elif logical_id.endswith("Function"):
        _function(logical_id.removesuffix("Function").lower(), target, architecture)
    else:
        raise BuildFailed(f"{logical_id} is neither a function nor a layer that we know how to build.")
    _date(target)


def _function(name: str, target: Path, architecture: Architecture) -> None:
    source = ROOT / "functions" / name
    if not (source / "app.py").is_file():
        raise BuildFailed(f"There is no functions/{name}/app.py.")
    if name == "ingestion":  # the readers of document formats, which no other function needs
        install(Dependencies("extraction"), architecture, target)
        trim(target)
    for module in sorted(source.glob("*.py")):
        shutil.copyfile(module, target / module.name)
    compile_tree(target, seen_as="/var/task")


def _botforge_layer(target: Path, architecture: Architecture) -> None:
    python = target / "python"
    install(Dependencies(), architecture, python)
    trim(python)
    package = ROOT / "layers" / "botforge" / "botforge"
    shutil.copytree(package, python / "botforge", ignore=shutil.ignore_patterns("__pycache__"))
    compile_tree(python, seen_as="/opt/python")


def _embedding_layer(target: Path, architecture: Architecture) -> None:
    from botforge_dev.model.weights import MODEL_DIR, WeightsError, ensure_weights  # needs numpy; the others do not

    try:
        ensure_weights()
    except WeightsError as error:
        raise BuildFailed(str(error)) from error
    python, model = target / "python", target / "model"
    install(_EMBEDDING, architecture, python)
    trim(python)
    model.mkdir()
    for name in ("manifest.json", *json.loads((MODEL_DIR / "manifest.json").read_text())["files"]):
        shutil.copyfile(MODEL_DIR / name, model / name)
    compile_tree(python, seen_as="/opt/python")


def _date(folder: Path) -> None:
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)  # whatever the builder's umask is, Lambda's user reads it
        os.utime(path, (EPOCH_S, EPOCH_S))


_LAYERS: Mapping[str, Callable[[Path, Architecture], None]] = {
    "BotforgeLayer": _botforge_layer,
    "EmbeddingLayer": _embedding_layer,
}
