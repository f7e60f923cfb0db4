"""The vector index that the settings choose."""

from botforge.adapters.postgres.database import Database
from botforge.ports.vectors import VectorIndex
from botforge.settings import VectorSettings
from botforge.wiring.secret import reveal


def vector_index(settings: VectorSettings, database: Database) -> VectorIndex:
    match settings.vector_backend:
        case "pgvector":
            from botforge.adapters.vectors.pgvector import PgVectorIndex

            return PgVectorIndex(database)
        case "pinecone":
            from botforge.adapters.vectors.pinecone import PineconeIndex

            key = reveal(settings.pinecone_api_key, settings.pinecone_secret_arn)
            assert key is not None and settings.pinecone_host is not None, "settings are validated"  # noqa: S101, PT018
            return PineconeIndex(api_key=key, host=settings.pinecone_host)
