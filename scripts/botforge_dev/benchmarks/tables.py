"""A PostgreSQL of the benchmarks' own, with a database for each size; kept for the next run.

A database holds one bot with ``size`` chunks, and a second bot of another tenant with a hundredth of that; and the
same chunks in LangChain's tables, with an HNSW index that LangChain itself does not make.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import islice
from typing import Any, LiteralString, cast
from uuid import UUID, uuid5

import psycopg
from psycopg import sql

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.postgres.migrate import migrate
from botforge_dev.benchmarks.contestants import HOME, Contestant
from botforge_dev.benchmarks.corpus import Corpus, Made
from botforge_dev.benchmarks.measuring import call, pinned
from botforge_dev.local import processes
from botforge_dev.local.postgres import Postgres

LARGE = (UUID(int=1), UUID(int=2))  # user and bot
SMALL = (UUID(int=3), UUID(int=4))  # a hundredth of the large one, in the same tables
PASSWORD = "only-for-benchmarks"  # noqa: S105
DOCUMENT_CHUNKS = 20
_CONTENT = "2"  # to be changed with what is written into the tables, or with Corpus.chunks
_LANGCHAIN_INDEX = "embedding_by_cosine"


@dataclass(slots=True)
class Tables:
    opponents: Contestant
    corpus: Corpus
    sizes: Sequence[int]
    server: Postgres = field(default_factory=lambda: Postgres(HOME / "cluster", processes.free_port()))
    key: str = field(init=False)  # of the tables' content: other content, other databases

    def __post_init__(self) -> None:
        schema = files("botforge.adapters.postgres") / "migrations"
        scripts = [file.read_text(encoding="utf-8") for file in schema.iterdir() if file.name.endswith(".sql")]
        self.key = hashlib.sha256("".join([*sorted(scripts), _CONTENT, self.corpus.digest]).encode()).hexdigest()[:8]

    def start(self) -> None:
        """Fill what is not there yet, then restart on one core: what is measured shares it with its client."""
        self.server.start()
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            for role in ("tenant", "worker"):
                login(connection, role)
            found = connection.execute("select datname from pg_database where datname like 'bench_%'").fetchall()
            for name in {row[0] for row in found} - {self._name(size) for size in self.sizes}:
                if name.rsplit("_", 1)[-1] != self.key:
                    connection.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))
        for size in self.sizes:
            if (self._name(size),) not in found:
                print(f"Filling a database with {size:,} chunks ...", flush=True)
                self._fill(size)
        with pinned():
            self.server.start()

    def stop(self) -> None:
        self.server.stop()

    def tenant(self, size: int) -> str:
        return self.server.dsn(self._name(size), "benchmark_tenant", PASSWORD)

    def langchain(self, size: int) -> str:
        return self.server.dsn(self._name(size)).replace("postgresql://", "postgresql+psycopg://")

    def chunks(self, size: int) -> Iterator[Made]:
        """The large bot's chunks, then the small one's."""
        return self.corpus.chunks(size + size // 100)

    def _name(self, size: int) -> str:
        return f"bench_{size}_{self.key}"

    def _fill(self, size: int) -> None:
        loading = f"bench_loading_{self.key}"
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            connection.execute(sql.SQL("drop database if exists {}").format(sql.Identifier(loading)))
        self.server.create_database(loading)
        owner = self.server.dsn(loading)
        migrate(owner)
        collection = call(
            self.opponents.command("collection.py"),
            self.opponents.environment(DATABASE_URL=owner.replace("postgresql://", "postgresql+psycopg://")),
        )["id"]
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute("set maintenance_work_mem = '1GB'")
            indexes = _take_indexes(connection)
            _write_halves(connection, self.corpus)
            chunks = self.chunks(size)
            _write_bot(connection, LARGE, islice(chunks, size))
            _write_bot(connection, SMALL, chunks)
            _write_langchain(connection, UUID(collection))
            for definition in indexes:
                connection.execute(cast("LiteralString", definition))
            connection.execute(
                sql.SQL("create index {} on langchain_pg_embedding using hnsw (embedding vector_cosine_ops)").format(
                    sql.Identifier(_LANGCHAIN_INDEX)
                )
            )
            connection.execute("vacuum analyze")
        worker = Database(self.server.dsn(loading, "benchmark_worker", PASSWORD))
        PostgresMaintenance(worker).refresh_statistics()
        worker.close()
        with psycopg.connect(self.server.dsn(), autocommit=True) as connection:
            names = (sql.Identifier(loading), sql.Identifier(self._name(size)))
            connection.execute(sql.SQL("alter database {} rename to {}").format(*names))


def login(connection: psycopg.Connection[Any], role: str) -> None:
    """Make ``benchmark_{role}``, a member of the product's group of that name."""
    if connection.execute("select 1 from pg_roles where rolname = %s", (f"benchmark_{role}",)).fetchone():
        return
    # The migrations make the groups, unless they are there.
    group = sql.Identifier(f"botforge_{role}")
    if not connection.execute("select 1 from pg_roles where rolname = %s", (f"botforge_{role}",)).fetchone():
        connection.execute(sql.SQL("create role {} nologin").format(group))
    name = sql.Identifier(f"benchmark_{role}")
    statement = sql.SQL("create role {} login password {} in role {}")
    connection.execute(statement.format(name, sql.Literal(PASSWORD), group))


def _take_indexes(connection: psycopg.Connection[Any]) -> list[str]:
    """Drop the secondary indexes of the large tables and give their definitions: built at the end is faster."""
    found = connection.execute(
        "select indexname, indexdef from pg_indexes"
        " where tablename in ('chunks', 'chunk_vectors') and indexname not like '%_pkey'"
    ).fetchall()
    for name, _ in found:
        connection.execute(sql.SQL("drop index {}").format(sql.Identifier(name)))
    return [definition for _, definition in found]


def _write_bot(connection: psycopg.Connection[Any], owner: tuple[UUID, UUID], chunks: Iterator[Made]) -> None:
    user, bot = owner
    connection.execute(
        "insert into bots (id, user_id, name, description, max_chunks, similarity_threshold)"
        " values (%s, %s, 'Benchmark', '', 5, 0.5)",
        (bot, user),
    )
    connection.execute(
        "create temp table incoming"
        " (document uuid, ordinal int, text text, embedding halfvec(384), first int, second int)"
    )
    with connection.cursor() as cursor, cursor.copy("copy incoming from stdin") as copy:
        for number, made in enumerate(chunks):
            document = uuid5(bot, str(number // DOCUMENT_CHUNKS))
            place = (document, number % DOCUMENT_CHUNKS)
            copy.write_row((*place, made.text, str(made.vector), made.first, made.second))
    statements: tuple[LiteralString, ...] = (
        """insert into documents (id, user_id, bot_id, path, content_type, size, status, last_generation,
               active_generation, chunk_count)
           select document, %(user)s, %(bot)s, document || '.txt', 'text/plain', 1, 'indexed', 1, 1, count(*)
           from incoming group by document""",
        """insert into chunks (document_id, generation, ordinal, user_id, bot_id, text, headings, lexemes)
           select document, 1, ordinal, %(user)s, %(bot)s, text, '{}', to_tsvector('english', text) from incoming""",
        """insert into chunk_vectors (document_id, generation, ordinal, user_id, bot_id, embedding)
           select document, 1, ordinal, %(user)s, %(bot)s, embedding from incoming""",
        """insert into chunk_sentences (document_id, generation, ordinal, user_id, bot_id, embeddings)
           select document, 1, ordinal, %(user)s, %(bot)s, one.start || other.rest
           from incoming join halves one on one.passage = first join halves other on other.passage = second""",
    )
    for statement in statements:
        connection.execute(statement, {"user": user, "bot": bot})
    connection.execute("drop table incoming")


def _write_halves(connection: psycopg.Connection[Any], corpus: Corpus) -> None:
    connection.execute("create temp table halves (passage int, start halfvec(384)[], rest halfvec(384)[])")
    rows = [
        (number, [str(vector) for vector in start], [str(vector) for vector in rest])
        for number, (start, rest) in enumerate(corpus.halves())
    ]
    connection.cursor().executemany("insert into halves values (%s, %s::halfvec(384)[], %s::halfvec(384)[])", rows)


def _write_langchain(connection: psycopg.Connection[Any], collection: UUID) -> None:
    connection.execute(
        """insert into langchain_pg_embedding (id, collection_id, embedding, document, cmetadata)
           select c.document_id || ':' || c.ordinal, %s, v.embedding::vector(384), c.text,
               jsonb_build_object('source', c.document_id || '.txt')
           from chunks c join chunk_vectors v using (document_id, generation, ordinal) where c.bot_id = %s""",
        (collection, LARGE[1]),
    )
