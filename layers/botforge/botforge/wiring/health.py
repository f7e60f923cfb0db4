"""GET /health."""

from functools import cache

from botforge.adapters.embedding.manifest import check_files
from botforge.adapters.postgres.health import PostgresHealth
from botforge.domain.deadline import Deadline
from botforge.domain.errors import EmbeddingUnavailable
from botforge.http.gateway import Handler
from botforge.http.routes.health import health_router
from botforge.ports.vectors import VectorIndex
from botforge.services.health import Check, Condition, Finding, HealthService, of_tool_servers
from botforge.settings import EmbeddingSettings, HealthSettings, load
from botforge.wiring.database import connect
from botforge.wiring.vectors import vector_index
from botforge.wiring.web import web_handler

_CHECK_S = 3.0
_REQUIRED = frozenset({"database", "vector_index", "embedding_model"})


def build() -> Handler:
    settings = load(HealthSettings)
    database = PostgresHealth(connect(settings))

    @cache
    def index() -> VectorIndex:
        """Made when it is first asked for: nobody waits at init for an SDK that only this check needs.

        It has a connection of its own: an index that hangs must not hold up the database's check.
        """
        return vector_index(settings, connect(settings))

    def check_database() -> Finding:
        database.ping()
        return Finding(Condition.OK)

    def check_index() -> Finding:
        index().ping(Deadline.after(_CHECK_S))
        return Finding(Condition.OK)

    def check_llm() -> Finding:
        return Finding(Condition.OK if settings.chat_configured else Condition.NOT_CONFIGURED)

    def check_tool_servers() -> Finding:
        return of_tool_servers(database.tool_servers())

    checks: dict[str, Check] = {
        "database": check_database,
        "vector_index": check_index,
        "embedding_model": _embedding_check(settings),
        "llm": check_llm,
        "tool_servers": check_tool_servers,
    }
    return web_handler([health_router(HealthService(checks, _REQUIRED, _CHECK_S))], settings)


def _embedding_check(settings: EmbeddingSettings) -> Check:
    """Without loading the model: its files are looked at, as far as they are ours."""

    def check() -> Finding:
        match settings.embedding_backend:
            case "onnx":
                check_files(settings.embedding_model_dir)
            case "sentence_transformers":
                if not settings.embedding_model_dir.is_dir():
                    raise EmbeddingUnavailable(
                        "The embedding model is not where it should be.", code="embedding_model_missing"
                    )
        return Finding(Condition.OK)

    return check
