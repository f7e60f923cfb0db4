"""A bot's tools as the router sees them: names, descriptions and vectors, without the rest of their rows."""

import struct
from collections.abc import Sequence
from typing import LiteralString

from psycopg.rows import kwargs_row

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.literals import literal
from botforge.domain.ids import BotId, UserId
from botforge.domain.routing import ToolEvidence
from botforge.ports.embedding import Vector

_HEADER_BYTES = 4  # pgvector's halfvec_send: dimension and a reserved word, then big-endian halves


class PostgresRoutingTools:
    def __init__(self, database: Database) -> None:
        self._database = database

    def nearest(self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int) -> Sequence[ToolEvidence]:
        # What can be called, as PostgresToolServers.nearest has it. A bot's tools are few: all vectors are compared.
        statement: LiteralString = """
            select t.name, t.description, 1 - (t.embedding <=> %(vector)s::halfvec(384)) as cosine,
                halfvec_send(t.embedding) as vector
            from mcp_tools t
                join mcp_servers s on s.id = t.mcp_server_id
                join bots b on b.id = s.bot_id and b.deleted_at is null
            where t.bot_id = %(bot)s and t.user_id = %(user)s and t.status = 'active' and t.embedding is not null
                and s.is_active and s.deleted_at is null and s.health_status <> 'open'
            order by cosine desc, t.id limit %(limit)s
        """
        parameters = {"user": user_id, "bot": bot_id, "vector": literal(vector), "limit": limit}
        return self._database.fetch(user_id, statement, parameters, kwargs_row(_as_evidence))


def _as_evidence(*, name: str, description: str, cosine: float, vector: bytes) -> ToolEvidence:
    halves = vector[_HEADER_BYTES:]
    return ToolEvidence(name, description, cosine, struct.unpack(f">{len(halves) // 2}e", halves))
