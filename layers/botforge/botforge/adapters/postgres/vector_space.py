"""The table ``vector_space``, and the vectors that change together with it."""

from collections.abc import Mapping, Sequence
from typing import LiteralString

from psycopg.rows import kwargs_row, tuple_row

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.literals import literal
from botforge.adapters.postgres.tool_rows import TOOL_COLUMNS, as_tool
from botforge.domain.ids import RoutingExampleId, ToolId
from botforge.domain.tool import Tool, ToolDefinition
from botforge.ports.embedding import Vector


class PostgresVectorSpace:
    def __init__(self, database: Database) -> None:
        self._database = database

    def adopt(self, model_id: str) -> str:
        known: LiteralString = "select model_id from vector_space"
        rows = self._database.fetch(None, known, {}, tuple_row)
        if not rows:
            note: LiteralString = "insert into vector_space (model_id) values (%(model)s) on conflict do nothing"
            with self._database.transaction(None) as connection:
                connection.execute(note, {"model": model_id})
            rows = self._database.fetch(None, known, {}, tuple_row)  # another environment may have been faster
        return str(rows[0][0])

    def tools(self) -> Sequence[tuple[ToolId, ToolDefinition]]:
        statement: LiteralString = f"select {TOOL_COLUMNS} from mcp_tools t where t.embedding is not null order by t.id"
        found: list[Tool] = self._database.fetch(None, statement, {}, kwargs_row(as_tool))
        return [(tool.id, tool.definition) for tool in found]

    def examples(self) -> Sequence[tuple[RoutingExampleId, str]]:
        return self._database.fetch(None, "select id, text from routing_examples order by id", {}, tuple_row)

    def switch(
        self, model_id: str, tools: Mapping[ToolId, Vector], examples: Mapping[RoutingExampleId, Vector]
    ) -> None:
        note: LiteralString = """
            insert into vector_space (model_id) values (%(model)s)
            on conflict (only_one) do update set model_id = excluded.model_id
        """
        of_tools: LiteralString = """
            update mcp_tools set embedding = (
                select v.embedding::halfvec(384) from unnest(%(ids)s::uuid[], %(vectors)s::text[]) as v (id, embedding)
                where v.id = mcp_tools.id)
            where embedding is not null
        """
        # An example cannot be without a vector: one that came in between is of the old model, and goes.
        strangers: LiteralString = "delete from routing_examples where id <> all(%(ids)s::uuid[])"
        of_examples: LiteralString = """
            update routing_examples set embedding = v.embedding::halfvec(384)
            from unnest(%(ids)s::uuid[], %(vectors)s::text[]) as v (id, embedding) where v.id = routing_examples.id
        """
        with self._database.transaction(None) as connection:
            connection.execute(note, {"model": model_id})
            connection.execute("delete from chunk_sentences")
            connection.execute(of_tools, _columns(tools))
            connection.execute(strangers, _columns(examples))
            connection.execute(of_examples, _columns(examples))


def _columns(vectors: Mapping[ToolId, Vector] | Mapping[RoutingExampleId, Vector]) -> dict[str, object]:
    return {"ids": list(vectors), "vectors": [literal(vector) for vector in vectors.values()]}
