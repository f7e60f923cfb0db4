"""The reranker that the settings choose."""

from botforge.services.reranking import Reranking
from botforge.settings import RerankerSettings
from botforge.wiring.secret import reveal

_HOSTED_WEIGHT = 2.0  # not measured: there is no account to measure with


def reranking(settings: RerankerSettings) -> Reranking | None:
    match settings.reranker:
        case "none":
            return None
        case "pinecone":
            from botforge.adapters.reranking.pinecone import PineconeReranker

            key = reveal(settings.pinecone_api_key, settings.pinecone_secret_arn)
            assert key is not None, "settings are validated"  # noqa: S101
            return Reranking(PineconeReranker(api_key=key, host=settings.pinecone_api_host), _HOSTED_WEIGHT)
