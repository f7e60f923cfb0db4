"""The table ``routing_examples``."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

import psycopg
from psycopg.rows import kwargs_row, scalar_row

from botforge.adapters.postgres import cursors
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.literals import literal
from botforge.domain.errors import Conflict, NotFound
from botforge.domain.ids import BotId, RoutingExampleId, UserId
from botforge.domain.page import Page
from botforge.domain.query import Intent
from botforge.domain.routing import ExampleEvidence
from botforge.domain.routing_example import MAX_EXAMPLES_PER_BOT, RoutingExample
from botforge.ports.embedding import Vector

_COLUMNS: LiteralString = "e.id, e.user_id, e.bot_id, e.text, e.intent, e.created_at, e.updated_at"
# A deleted bot's examples are gone at once, though their rows wait for the monitor.
_EXAMPLES: LiteralString = "routing_examples e join bots b on b.id = e.bot_id and b.deleted_at is null"


class PostgresRoutingExamples:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, examples: Sequence[RoutingExample], vectors: Sequence[Vector]) -> Sequence[RoutingExample]:
        if not examples:
            return ()
        # The bot's row is the lock: two requests at once cannot both take the last places.
        owned: LiteralString = """
            select 1 from bots where id = %(bot)s and user_id = %(user)s and deleted_at is null for update
        """
        held: LiteralString = "select count(*) from routing_examples where bot_id = %(bot)s"
        statement: LiteralString = f"""
            insert into routing_examples as e (id, user_id, bot_id, text, text_key, intent, embedding)
            values (%(id)s, %(user)s, %(bot)s, %(text)s, %(key)s, %(intent)s, %(vector)s::halfvec(384))
            on conflict (bot_id, text_key) do update set text = excluded.text, intent = excluded.intent,
                embedding = excluded.embedding, updated_at = now()
            returning {_COLUMNS}
        """
        bot = {"bot": examples[0].bot_id, "user": examples[0].user_id}
        saved: list[RoutingExample] = []
        with self._database.transaction(examples[0].user_id) as connection:
            if connection.execute(owned, bot).fetchone() is None:
                raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")
            with connection.cursor(row_factory=kwargs_row(_as_example)) as rows:
                for example, vector in zip(examples, vectors, strict=True):
                    row = rows.execute(statement, _parameters(example, vector)).fetchone()
                    saved += [] if row is None else [row]
            (number,) = connection.execute(held, bot).fetchone() or (0,)
            if number > MAX_EXAMPLES_PER_BOT:
                raise Conflict(
                    f"A bot may have at most {MAX_EXAMPLES_PER_BOT} routing examples.",
                    code="too_many_routing_examples",
                    next_step="Delete examples that are no longer needed.",
                )
        return saved

    def get(self, user_id: UserId, bot_id: BotId, example_id: RoutingExampleId) -> RoutingExample | None:
        statement: LiteralString = f"""
            select {_COLUMNS} from {_EXAMPLES}
            where e.id = %(id)s and e.bot_id = %(bot)s and e.user_id = %(user)s
        """
        parameters = {"id": example_id, "bot": bot_id, "user": user_id}
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(_as_example))
        return rows[0] if rows else None

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[RoutingExample]:
        after = cursors.decode(cursor)
        statement: LiteralString = f"""
            select {_COLUMNS} from {_EXAMPLES}
            where e.bot_id = %(bot)s and e.user_id = %(user)s
                and (%(after)s::timestamptz is null or (e.created_at, e.id) < (%(after)s, %(after_id)s))
            order by e.created_at desc, e.id desc limit %(limit)s
        """
        parameters = {
            "bot": bot_id,
            "user": user_id,
            "after": after and after.created_at,
            "after_id": after and after.id,
            "limit": limit + 1,
        }
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(_as_example))
        return cursors.page(rows, limit, lambda example: cursors.Position(example.created_at, example.id))

    def update(self, example: RoutingExample, vector: Vector) -> RoutingExample | None:
        statement: LiteralString = f"""
            update routing_examples e set text = %(text)s, text_key = %(key)s, intent = %(intent)s,
                embedding = %(vector)s::halfvec(384), updated_at = now()
            from bots b
            where e.id = %(id)s and e.bot_id = %(bot)s and e.user_id = %(user)s
                and b.id = e.bot_id and b.deleted_at is null
            returning {_COLUMNS}
        """
        with (
            self._database.transaction(example.user_id) as connection,
            connection.cursor(row_factory=kwargs_row(_as_example)) as rows,
        ):
            try:
                return rows.execute(statement, _parameters(example, vector)).fetchone()
            except psycopg.errors.UniqueViolation as error:
                raise Conflict(
                    "The bot has another routing example with that text.", code="text_taken", field="text"
                ) from error

    def delete(self, user_id: UserId, bot_id: BotId, example_id: RoutingExampleId) -> bool:
        statement: LiteralString = """
            delete from routing_examples e using bots b
            where e.id = %(id)s and e.bot_id = %(bot)s and e.user_id = %(user)s
                and b.id = e.bot_id and b.deleted_at is null
            returning e.id
        """
        parameters = {"id": example_id, "bot": bot_id, "user": user_id}
        with self._database.transaction(user_id) as connection, connection.cursor(row_factory=scalar_row) as rows:
            return rows.execute(statement, parameters).fetchone() is not None

    def nearest(self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int) -> Sequence[ExampleEvidence]:
        # The best of each intent must be among them, however many of the other intent are nearer.
        statement: LiteralString = f"""
            select intent, 1 - distance as cosine from (
                select e.intent, e.embedding <=> %(vector)s::halfvec(384) as distance,
                    row_number() over (partition by e.intent order by e.embedding <=> %(vector)s::halfvec(384)) as rank
                from {_EXAMPLES}
                where e.bot_id = %(bot)s and e.user_id = %(user)s
            ) measured order by rank, distance limit %(limit)s
        """
        parameters = {"user": user_id, "bot": bot_id, "vector": literal(vector), "limit": limit}
        found = self._database.fetch(user_id, statement, parameters, kwargs_row(_as_evidence))
        return sorted(found, key=lambda example: -example.cosine)


def _as_example(*, intent: str, **columns: Any) -> RoutingExample:  # noqa: ANN401 - as psycopg read them
    return RoutingExample(intent=Intent(intent), **columns)


def _as_evidence(*, intent: str, cosine: float) -> ExampleEvidence:
    return ExampleEvidence(Intent(intent), cosine)


def _parameters(example: RoutingExample, vector: Vector) -> Mapping[str, Any]:
    folded = " ".join(example.text.casefold().split())
    return {
        "id": example.id,
        "user": example.user_id,
        "bot": example.bot_id,
        "text": example.text,
        "key": hashlib.sha256(folded.encode()).digest(),
        "intent": example.intent,
        "vector": literal(vector),
    }
