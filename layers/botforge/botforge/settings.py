"""One settings model a function, read once from the environment and validated at init.

A field ``database_url`` is the variable ``DATABASE_URL``. An empty variable counts as absent, as CloudFormation has no
way to leave one out. Secrets come as a value (local runs) or as the ARN of a Secrets Manager secret (the cloud).
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator


def _split(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Names = Annotated[frozenset[str], BeforeValidator(_split)]
Secret = SecretStr | None
Arn = str | None


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class DatabaseSettings(Settings):
    database_url: Secret = None
    database_secret_arn: Arn = None
    database_pooled: bool = False  # behind PgBouncer or RDS Proxy

    @model_validator(mode="after")
    def _has_database(self) -> Self:
        if self.database_url is None and self.database_secret_arn is None:
            raise ValueError("set DATABASE_URL or DATABASE_SECRET_ARN")
        return self


class VectorSettings(Settings):
    vector_backend: Literal["pgvector", "pinecone"] = "pgvector"
    pinecone_host: str | None = None
    pinecone_api_key: Secret = None
    pinecone_secret_arn: Arn = None

    @model_validator(mode="after")
    def _has_index(self) -> Self:
        keyed = self.pinecone_api_key is not None or self.pinecone_secret_arn is not None
        if self.vector_backend == "pinecone" and not (self.pinecone_host and keyed):
            raise ValueError("VECTOR_BACKEND=pinecone needs PINECONE_HOST and PINECONE_API_KEY or PINECONE_SECRET_ARN")
        return self


class EmbeddingSettings(Settings):
    embedding_backend: Literal["onnx", "sentence_transformers"] = "onnx"
    embedding_model_dir: Path = Path("/opt/model")
    redis_url: Secret = None


class RerankerSettings(Settings):
    reranker: Literal["none", "pinecone"] = "none"
    pinecone_api_key: Secret = None
    pinecone_secret_arn: Arn = None
    pinecone_api_host: str | None = None  # of Pinecone's API; its usual one if it is not set

    @model_validator(mode="after")
    def _has_key(self) -> Self:
        if self.reranker == "pinecone" and self.pinecone_api_key is None and self.pinecone_secret_arn is None:
            raise ValueError("RERANKER=pinecone needs PINECONE_API_KEY or PINECONE_SECRET_ARN")
        return self


class ChatSettings(Settings):
    openai_api_key: Secret = None
    openai_secret_arn: Arn = None
    openai_base_url: str | None = None
    openai_model: str = "gpt-4.1-mini"
    openai_allowed_models: Names = frozenset()

    @property
    def chat_configured(self) -> bool:
        return self.openai_api_key is not None or self.openai_secret_arn is not None


class GatewaySettings(Settings):
    aws_sam_local: bool = False  # set by `sam local` alone, which runs no JWT authorizer
    request_deadline_seconds: float = Field(default=25, gt=0, le=29)  # the gateway gives up after 30


class BucketSettings(Settings):
    bucket: str


class ToolSettings(Settings):
    """What reaching a registered tool server takes."""

    tool_credentials_key_id: str | None = None  # of AWS KMS
    tool_credentials_key_file: Path | None = None  # local development
    egress_allow_loopback: bool = False  # local development: tool servers on this very machine, over plain HTTP

    @model_validator(mode="after")
    def _has_one_key(self) -> Self:
        if self.tool_credentials_key_id is not None and self.tool_credentials_key_file is not None:
            raise ValueError("set TOOL_CREDENTIALS_KEY_ID or TOOL_CREDENTIALS_KEY_FILE, not both")
        return self


class QuerySettings(
    DatabaseSettings,
    VectorSettings,
    EmbeddingSettings,
    RerankerSettings,
    ChatSettings,
    BucketSettings,
    ToolSettings,
    GatewaySettings,
):
    pass


class DocumentsSettings(DatabaseSettings, BucketSettings, GatewaySettings):
    pass


class RegistrySettings(DatabaseSettings, EmbeddingSettings, ToolSettings, GatewaySettings):
    pass


class HealthSettings(DatabaseSettings, VectorSettings, EmbeddingSettings, ChatSettings, GatewaySettings):
    pass


class IngestionSettings(DatabaseSettings, VectorSettings, EmbeddingSettings, BucketSettings):
    queue_url: str | None = None  # set: a message that failed comes back sooner than the queue's timeout
    max_receive_count: int = Field(default=5, ge=1)  # the queue's: after as many tries a document has failed


class MonitorSettings(DatabaseSettings, VectorSettings, BucketSettings, ToolSettings):
    pass


Model = TypeVar("Model", bound=Settings)


def load(model: type[Model], environ: Mapping[str, str] = os.environ) -> Model:
    """Read ``model`` from the environment. Raises pydantic.ValidationError, which names every variable at fault."""
    names = {name: name.upper() for name in model.model_fields}
    return model.model_validate({name: environ[variable] for name, variable in names.items() if environ.get(variable)})
