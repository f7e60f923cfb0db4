"""How long it takes to choose eight of a bot's thousand tools, the message's embedding apart.

Tools and messages are made up of the corpus's passages and questions: what is measured is work, not fitness.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg

from botforge.adapters.embedding.onnx import OnnxEmbedder
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.migrate import migrate
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.domain.agent import MAX_TOOLS
from botforge.domain.clauses import clauses
from botforge.domain.ids import BotId, ToolId, ToolServerId, UserId
from botforge.domain.tool import (
    Dialect,
    ServerHealth,
    Tool,
    ToolDefinition,
    ToolProtocol,
    ToolServer,
    ToolStatus,
)
from botforge.ports.embedding import Embedding, Vector
from botforge.services.tool_selection import ToolSelector
from botforge_dev.benchmarks.corpus import Corpus
from botforge_dev.benchmarks.measuring import p50, p99
from botforge_dev.benchmarks.tables import PASSWORD, Tables, login

_SERVERS, _TOOLS = 10, 100  # and tools of each
_WARM_UP = 20
_USER, _BOT = UserId(uuid4()), BotId(uuid4())


@dataclass(frozen=True, slots=True)
class _Known:
    """An embedder that has all vectors already."""

    vectors: dict[str, Vector]
    model_id: str = "known"
    dimension: int = 384

    def embed(self, texts: Sequence[str]) -> list[Embedding]:
        return [Embedding(self.vectors[text], truncated=False) for text in texts]


def run(corpus: Corpus, tables: Tables, model: OnnxEmbedder, *, quick: bool) -> dict[str, Any]:
    """p50 and p99 in milliseconds, for messages that ask for one thing and for those that ask for three."""
    name = "bench_selection"
    with psycopg.connect(tables.server.dsn(), autocommit=True) as connection:
        connection.execute(f"drop database if exists {name} with (force)")
        login(connection, "tenant")
    tables.server.create_database(name)
    migrate(tables.server.dsn(name))
    with psycopg.connect(tables.server.dsn(name), autocommit=True) as owner:
        owner.execute("insert into bots (id, user_id, name, description, max_chunks, similarity_threshold)"
                      " values (%s, %s, 'Benchmark', '', 5, 0.2)", (_BOT, _USER))  # fmt: skip
    database = Database(tables.server.dsn(name, "benchmark_tenant", PASSWORD))
    try:
        _register(PostgresToolServers(database), corpus, model)
        with psycopg.connect(tables.server.dsn(name), autocommit=True) as owner:
            owner.execute("vacuum analyze")
        questions = corpus.questions[: 60 if quick else 300]
        single = [question for question in questions if len(question.split()) > 2]
        triple = [f"{one}\n{two}\n{three}" for one, two, three in zip(single, single[1:], single[2:], strict=False)]
        texts = list({part for text in (*single, *triple) for part in (text, *clauses(text))})
        vectors = {text: embedded.vector for text, embedded in zip(texts, model.embed(texts), strict=True)}
        selector = ToolSelector(_Known(vectors), PostgresToolServers(database))
        return {"tools": _SERVERS * _TOOLS, "one": _timed(selector, single), "three": _timed(selector, triple)}
    finally:
        database.close()


def _timed(selector: ToolSelector, texts: Sequence[str]) -> dict[str, float]:
    taken: list[float] = []
    for text in texts:
        start = time.perf_counter()
        selection = selector.select(_USER, _BOT, text, limit=MAX_TOOLS)
        taken.append((time.perf_counter() - start) * 1000)
        assert len(selection.tools) == MAX_TOOLS  # noqa: S101
    return {"p50": p50(taken[_WARM_UP:]), "p99": p99(taken[_WARM_UP:])}


def _register(servers: PostgresToolServers, corpus: Corpus, model: OnnxEmbedder) -> None:
    now = datetime.now(UTC)
    passages = corpus.passages[: _SERVERS * _TOOLS]
    for number in range(_SERVERS):
        server = ToolServer(
            id=ToolServerId(uuid4()),
            bot_id=_BOT,
            user_id=_USER,
            name=f"Server {number}",
            endpoint_url="https://tools.example.com",
            description="",
            is_active=True,
            timeout_seconds=30,
            retry_attempts=3,
            protocol=ToolProtocol.REST,
            dialect=Dialect.REST,
            policies={},
            sealed_credential=None,
            credential_kind=None,
            health=ServerHealth(),
            created_at=now,
            updated_at=now,
        )
        own = passages[number * _TOOLS : (number + 1) * _TOOLS]
        texts = [" ".join(passage.split()[:30]) for passage in own]
        tools = [
            Tool(ToolId(uuid4()), server.id, _BOT, _definition(place, text), ToolStatus.ACTIVE, None, now, now)
            for place, text in enumerate(texts)
        ]
        servers.create(server, tools, [embedded.vector for embedded in model.embed(texts)])


def _definition(place: int, text: str) -> ToolDefinition:
    schema = {"type": "object", "properties": {"what": {"type": "string", "description": text[:40]}}}
    return ToolDefinition(f"tool_{place}", text, schema, digest=f"{place}")
