"""The trained head: its file, its arithmetic, and what it makes of plain cases."""

# numpy's overloads are only partly typed.
# pyright: reportUnknownMemberType=false
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.routing.features import NAMES, features
from botforge.adapters.routing.head import RoutingHead
from botforge.adapters.routing.lexical import gram_slots, gram_weight, overlap, stems
from botforge.adapters.routing.trees import Trees
from botforge.adapters.routing.weights import FILE, MANIFEST, WeightsDamaged, load
from botforge.domain.routing import ToolEvidence

TOOLS = {
    "transfer_money": "Send money from an account to a person",
    "get_weather": "Current weather and forecast of a place",
    "book_table": "Reserve a table at a restaurant",
}


@pytest.fixture(scope="module")
def embedder(model_dir: Path) -> OnnxEmbedder:
    return OnnxEmbedder(model_dir)


@pytest.fixture(scope="module")
def head() -> RoutingHead:
    return RoutingHead()


def p_execution(head: RoutingHead, embedder: OnnxEmbedder, text: str) -> float:
    texts = [text, *(f"{name.replace('_', ' ')}: {description}" for name, description in TOOLS.items())]
    message, *vectors = (embedding.vector for embedding in embedder.embed(texts))
    tools = [
        ToolEvidence(name, description, float(np.dot(message, vector)), vector)
        for (name, description), vector in zip(TOOLS.items(), vectors, strict=True)
    ]
    return head.p_execution(text, message, sorted(tools, key=lambda tool: -tool.cosine))


@pytest.mark.parametrize(
    "text", ["Transfer 50 euros to Anna.", "What's the weather in Oslo?", "Could you book us a table for two tonight?"]
)
def test_what_a_tool_of_the_bot_does_is_an_action(head: RoutingHead, embedder: OnnxEmbedder, text: str) -> None:
    assert p_execution(head, embedder, text) > 0.8


@pytest.mark.parametrize(
    "text",
    ["Who wrote Faust?", "Tell me about the water cycle.", "what causes the northern lights", "Explain entropy."],
)
def test_what_a_document_answers_is_a_question(head: RoutingHead, embedder: OnnxEmbedder, text: str) -> None:
    assert p_execution(head, embedder, text) < 0.2


def test_the_head_was_trained_on_the_vectors_that_the_product_makes(head: RoutingHead, embedder: OnnxEmbedder) -> None:
    assert head.model_id == embedder.model_id


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=200), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_any_message_and_any_tools_give_a_probability(text: str, number: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(number + 1, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tools = [ToolEvidence(text[:5], text, float(vectors[0] @ vector), vector.tolist()) for vector in vectors[1:]]
    assert 0 <= RoutingHead(load()).p_execution(text, vectors[0].tolist(), tools) <= 1
    assert np.isfinite(features(text, vectors[0].astype(np.float32), tools, load().arrays)).all()


def copied(folder: Path) -> tuple[Path, Path]:
    return Path(shutil.copy(FILE, folder)), Path(shutil.copy(MANIFEST, folder))


def test_weights_that_were_changed_are_refused(tmp_path: Path) -> None:
    file, manifest = copied(tmp_path)
    load(file, manifest)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(WeightsDamaged, match="is not the file"):
        load(file, manifest)


def test_weights_of_another_format_or_none_are_refused(tmp_path: Path) -> None:
    file, manifest = copied(tmp_path)
    described = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**described, "format": 999}))
    with pytest.raises(WeightsDamaged, match="format"):
        load(file, manifest)
    manifest.write_text("{}")
    with pytest.raises(WeightsDamaged):
        load(file, manifest)
    with pytest.raises(WeightsDamaged):
        load(tmp_path / "none.npz", MANIFEST)


def test_the_committed_weights_fit_their_features_and_hold_no_objects() -> None:
    arrays = load().arrays
    assert arrays.join_weights.shape == arrays.join_mean.shape == (len(NAMES),)
    assert arrays.tree_features.max() < len(NAMES)
    assert FILE.stat().st_size < 5_000_000
    with np.load(FILE, allow_pickle=False) as found:
        assert all(found[name].dtype != object for name in found.files)


def test_a_tree_goes_left_up_to_its_threshold_and_right_above_it() -> None:
    trees = Trees(
        np.array([[0, 1, 1]], dtype=np.int16), np.array([[0.5, 2.0, np.inf]]), np.array([[1, 2, 4, 8]], np.float32)
    )
    assert [trees.log_odds(np.array(row)) for row in ([0.5, 2.0], [0.5, 2.1], [0.6, 9.0])] == [1, 2, 4]


def test_words_are_shared_whatever_their_ending_and_spelling() -> None:
    idf = np.ones(1 << 15, dtype=np.float32)
    message = stems("Please book two tables")
    assert overlap(message, stems("bookTable"), stems("Reserves a table"), idf)[:2] == pytest.approx([2 / 3, 1.0])
    assert overlap(frozenset(), stems("bookTable"), stems(""), idf) == [0, 0, 0]


def test_n_grams_of_a_message_have_length_one_together_and_numbers_are_alike() -> None:
    slots = gram_slots("pay 20 euros")
    assert len(slots) * gram_weight(slots) ** 2 == pytest.approx(1)
    assert gram_slots("pay 35 euros").tolist() == slots.tolist()
    assert gram_weight(gram_slots("")) > 0
