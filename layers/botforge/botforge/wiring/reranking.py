"""The reranker that the settings choose."""

from botforge.ports.embedding import Embedder
from botforge.services.reranking import Reranking
from botforge.settings import RerankerSettings
from botforge.wiring.secret import reveal

_SENTENCES_WEIGHT = 0.5  # docs/retrieval.md has the figures
_HOSTED_WEIGHT = 1.0  # not measured: there is no account to measure with


def reranking(settings: RerankerSettings, embedder: Embedder) -> Reranking | None:
    match settings.reranker:
        case "none":
            return None
        case "sentences":
            from botforge.adapters.reranking.sentences import SentenceReranker

            return Reranking(SentenceReranker(embedder), _SENTENCES_WEIGHT)
        case "pinecone":
            from botforge.adapters.reranking.pinecone import PineconeReranker

            key = reveal(settings.pinecone_api_key, settings.pinecone_secret_arn)
            assert key is not None, "settings are validated"  # noqa: S101
            return Reranking(PineconeReranker(api_key=key, host=settings.pinecone_api_host), _HOSTED_WEIGHT)
