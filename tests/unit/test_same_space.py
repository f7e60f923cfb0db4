"""An embedding model works with the vectors that it made, and with no others."""

from dataclasses import dataclass

import pytest
from tests.fakes.embedding import BagOfWordsEmbedder

from botforge.domain.errors import EmbeddingUnavailable
from botforge.services.same_space import SameSpaceEmbedder


@dataclass(slots=True)
class NotedModel:
    """VectorSpace in memory."""

    model_id: str | None = None
    asked: int = 0

    def adopt(self, model_id: str) -> str:
        self.asked += 1
        self.model_id = self.model_id or model_id
        return self.model_id


class Narrow(BagOfWordsEmbedder):
    dimension = 256


def test_the_first_model_is_noted_and_asked_for_once() -> None:
    space = NotedModel()
    embedder = SameSpaceEmbedder(BagOfWordsEmbedder(), space)
    assert embedder.embed(["a"]) == BagOfWordsEmbedder().embed(["a"])
    embedder.embed(["b"])
    assert (space.model_id, space.asked) == ("bag-of-words", 1)


def test_another_model_than_the_one_that_made_the_vectors_embeds_nothing() -> None:
    model, space = BagOfWordsEmbedder(), NotedModel("another-model")
    embedder = SameSpaceEmbedder(model, space)
    with pytest.raises(EmbeddingUnavailable) as raised:
        embedder.embed(["a"])
    assert raised.value.code == "embedding_model_changed"
    assert "reindex" in str(raised.value.next_step)
    assert model.calls == []
    space.model_id = "bag-of-words"
    assert embedder.embed(["a"]), "an environment that lives through the re-embedding goes on"


def test_a_model_of_another_dimension_is_refused_before_anything_is_noted() -> None:
    space = NotedModel()
    with pytest.raises(EmbeddingUnavailable) as raised:
        SameSpaceEmbedder(Narrow(), space).embed(["a"])
    assert (raised.value.code, space.model_id) == ("embedding_dimension", None)
