"""Changes to the fused graph: lookups in float16, half-size storage, names that do not depend on the run."""

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


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


def halve(model: onnx.ModelProto, *, least_bytes: int) -> None:
    """Store every float32 matrix of at least that size as float16, and cast it back where the graph begins."""
    graph = model.graph
    casts: list[onnx.NodeProto] = []
    tensors: list[onnx.TensorProto] = []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.nbytes >= least_bytes and tensor.name != "position_embeddings":
            tensors.append(numpy_helper.from_array(values.astype(np.float16), f"{tensor.name}_half"))
            casts.append(helper.make_node("Cast", [f"{tensor.name}_half"], [tensor.name], to=TensorProto.FLOAT))
        else:
            tensors.append(tensor)
    _replace(graph.initializer, tensors)
    _replace(graph.node, casts + list(graph.node))


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
