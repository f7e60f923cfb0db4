"""The embedding model that the settings choose, and the cache in front of it, which keeps tools' results as well."""

from typing import Protocol

from botforge.adapters.embedding.caching import CachingEmbedder
from botforge.ports.cache import Cache
from botforge.ports.embedding import Embedder, Tokenizer
from botforge.settings import EmbeddingSettings

_CACHED_S = 24 * 3600


class EmbeddingModel(Embedder, Tokenizer, Protocol):
    """Both ports: the model embeds, and knows what it will read of a text."""


def embedding_model(settings: EmbeddingSettings) -> EmbeddingModel:
    match settings.embedding_backend:
        case "onnx":
            from botforge.adapters.embedding.onnx import OnnxEmbedder

            return OnnxEmbedder(settings.embedding_model_dir)
        case "sentence_transformers":
            from botforge.adapters.embedding.sentence_transformers import SentenceTransformersEmbedder

            return SentenceTransformersEmbedder(settings.embedding_model_dir)


def cached(model: EmbeddingModel, cache: Cache) -> Embedder:
    """Questions repeat; documents seldom do, so ingestion goes without."""
    return CachingEmbedder(model, cache, ttl=_CACHED_S)


def cache_of(settings: EmbeddingSettings) -> Cache:
    if settings.redis_url is None:
        from botforge.adapters.cache.memory import MemoryCache

        return MemoryCache()
    from botforge.adapters.cache.redis import RedisCache

    return RedisCache(settings.redis_url.get_secret_value())
