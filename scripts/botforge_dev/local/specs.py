"""What the template says about each function, with this machine's parts in the places that the cloud would fill."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from botforge_dev.local.aws import BUCKET, CREDENTIALS, REGION, LocalAws
from botforge_dev.local.environments import FunctionSpec
from botforge_dev.model.weights import MODEL_DIR
from botforge_dev.template import Template

# Taken over from the shell that serves, where a function declares them.
_FROM_SHELL = (
    "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_ALLOWED_MODELS", "REDIS_URL", "VECTOR_BACKEND",
    "RERANKER", "PINECONE_API_KEY", "PINECONE_HOST", "LOG_LEVEL", "EMBEDDING_BACKEND",
)  # fmt: skip
_SIZES = {"query": 2, "documents": 2, "ingestion": 2}  # environments; the others have one
_ROLES = {"monitor": "worker"}


def specs_of(
    template: Template, root: Path, dsns: Mapping[str, str], aws: LocalAws, credentials_key: Path
) -> dict[str, FunctionSpec]:
    """Logical id → function. ``dsns``: role (tenant, worker) → connection; ``credentials_key``: in KMS's place."""
    specs: dict[str, FunctionSpec] = {}
    for logical_id, properties in template.functions().items():
        name = Path(properties["CodeUri"]).name
        specs[logical_id] = FunctionSpec(
            name=name,
            folder=root / properties["CodeUri"],
            handler=properties["Handler"],
            timeout_s=float(properties["Timeout"]),
            memory_mb=int(properties["MemorySize"]),
            variables=_variables(
                properties["Environment"]["Variables"], dsns[_ROLES.get(name, "tenant")], aws, credentials_key
            ),
            size=_SIZES.get(name, 1),
        )
    return specs


def _variables(declared: Mapping[str, Any], dsn: str, aws: LocalAws, credentials_key: Path) -> dict[str, str]:
    """The function's environment: every variable that the template declares for it, and only those.

    A value that the template states is taken as it is; one that it computes has its local counterpart.
    """
    local = {
        "AWS_ENDPOINT_URL": aws.endpoint,
        "BUCKET": BUCKET,
        "DATABASE_URL": dsn,
        "QUEUE_URL": aws.queue_url,
        "EMBEDDING_MODEL_DIR": str(MODEL_DIR),
        "TOOL_CREDENTIALS_KEY_FILE": str(credentials_key),
        "EGRESS_ALLOW_LOOPBACK": "true",  # tool servers on this machine, which nobody else can reach
        **{name: os.environ[name] for name in _FROM_SHELL if os.environ.get(name)},
    }
    given = {name: value for name, value in declared.items() if isinstance(value, str)}
    chosen = {name: local[name] for name in declared if name in local}
    return {**given, **chosen, **CREDENTIALS, "AWS_REGION": REGION}
