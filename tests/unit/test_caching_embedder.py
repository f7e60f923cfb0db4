"""The cache in front of an embedder: what it spares, and what it never believes."""

import math
import struct

import pytest
from tests.fakes.embedding import BagOfWordsEmbedder

from botforge.adapters.cache.memory import MemoryCache
from botforge.adapters.embedding.caching import CachingEmbedder
from botforge.domain.errors import EmbeddingUnavailable

LONG = "word " * 300


class KeptCache:
    """A Cache that shows what it was given."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.ttls: set[int] = set()

    def get(self, key: str) -> bytes | None:
        return self.values.get(key)

    def set(self, key: str, value: bytes, *, ttl: int) -> None:
        self.values[key] = value
        self.ttls.add(ttl)


class ForgetfulCache:
    """A Cache that is dead."""

    def get(self, key: str) -> bytes | None:  # noqa: ARG002
        return None

    def set(self, key: str, value: bytes, *, ttl: int) -> None: ...


class OtherModel(BagOfWordsEmbedder):
    model_id = "another-space"


def test_a_text_is_embedded_once_and_then_known() -> None:
    model = BagOfWordsEmbedder()
    embedder = CachingEmbedder(model, MemoryCache(), ttl=60)

    first, second = embedder.embed(["hello world"]), embedder.embed(["hello world"])

    assert model.calls == [["hello world"]]
    assert second[0].vector == pytest.approx(first[0].vector, abs=1e-7)


def test_only_what_is_unknown_is_embedded_and_the_order_is_kept() -> None:
    model = BagOfWordsEmbedder()
    embedder = CachingEmbedder(model, MemoryCache(), ttl=60)
    embedder.embed(["b", "d"])

    found = embedder.embed(["a", "b", "c", "d"])

    assert model.calls == [["b", "d"], ["a", "c"]]
    expected = BagOfWordsEmbedder().embed(["a", "b", "c", "d"])
    assert [e.vector for e in found] == [pytest.approx(e.vector, abs=1e-7) for e in expected]


def test_equal_texts_in_one_batch_are_embedded_once() -> None:
    model = BagOfWordsEmbedder()

    found = CachingEmbedder(model, ForgetfulCache(), ttl=60).embed(["a", "b", "a"])

    assert model.calls == [["a", "b"]]
    assert found[0] == found[2] != found[1]


def test_that_a_text_was_truncated_is_remembered() -> None:
    embedder = CachingEmbedder(BagOfWordsEmbedder(), MemoryCache(), ttl=60)

    flags = [[embedding.truncated for embedding in embedder.embed([LONG, "short"])] for _ in range(2)]

    assert flags == [[True, False], [True, False]]


def test_models_do_not_see_each_others_vectors() -> None:
    cache = MemoryCache()
    CachingEmbedder(BagOfWordsEmbedder(), cache, ttl=60).embed(["hello"])
    other = OtherModel()

    CachingEmbedder(other, cache, ttl=60).embed(["hello"])

    assert other.calls == [["hello"]]


def test_no_text_is_in_a_key_or_a_value() -> None:
    cache = KeptCache()

    CachingEmbedder(BagOfWordsEmbedder(), cache, ttl=77).embed(["confidential"])

    assert cache.ttls == {77}
    for key, value in cache.values.items():
        assert "confidential" not in key
        assert b"confidential" not in value


@pytest.mark.parametrize("text", ["\ud800", "\x00", "", "😀"])
def test_any_text_has_a_key(text: str) -> None:
    model = BagOfWordsEmbedder()
    embedder = CachingEmbedder(model, MemoryCache(), ttl=60)

    embedder.embed([text])
    embedder.embed([text])

    assert model.calls == [[text]]


def _damaged(value: bytes) -> dict[str, bytes]:
    return {
        "empty": b"",
        "short": value[:-1],
        "long": value + b"\x00",
        "another flag": b"\x02" + value[1:],
        "zeros": bytes(len(value)),
        "not numbers": value[:1] + struct.pack("<384f", *[math.nan] * 384),
        "infinite": value[:1] + struct.pack("<384f", *[math.inf] * 384),
        "not of unit length": value[:1] + struct.pack("<384f", *[0.5] * 384),
        "text": b"x" * len(value),
    }


@pytest.mark.parametrize("damage", list(_damaged(b"\x00" * 1537)))
def test_a_damaged_value_is_a_miss_and_is_written_anew(damage: str) -> None:
    model, cache = BagOfWordsEmbedder(), KeptCache()
    embedder = CachingEmbedder(model, cache, ttl=60)
    sound = embedder.embed(["hello"])
    key, value = next(iter(cache.values.items()))
    cache.values[key] = _damaged(value)[damage]

    assert embedder.embed(["hello"]) == sound

    assert model.calls == [["hello"], ["hello"]]
    assert cache.values[key] == value


def test_a_failing_model_is_not_hidden_and_leaves_nothing_in_the_cache() -> None:
    model, cache = BagOfWordsEmbedder(), KeptCache()
    model.unavailable = True

    with pytest.raises(EmbeddingUnavailable):
        CachingEmbedder(model, cache, ttl=60).embed(["hello"])

    assert cache.values == {}
