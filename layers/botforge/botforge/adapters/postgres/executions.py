"""The table ``mcp_executions``: a row is committed before its call leaves, and ended once."""

from datetime import datetime
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import kwargs_row, tuple_row

from botforge.adapters.postgres import cursors
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.tool_rows import as_json, storable
from botforge.domain.errors import NotFound
from botforge.domain.execution import Execution, ExecutionOutcome, ExecutionStatus
from botforge.domain.ids import BotId, ExecutionId, ToolServerId, UserId
from botforge.domain.page import Page

_COLUMNS: LiteralString = """
id, user_id, bot_id, mcp_server_id, server_name, query_id, tool_name, input_parameters, output_result,
execution_time_ms, status, attempts, error_code, error_message, "timestamp"
"""


class PostgresExecutions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def start(self, execution: Execution) -> None:
        # The update changes nothing: with it the row's own id makes starting it twice harmless, so a dead connection
        # costs a second try, and the whole is one round trip.
        statement: LiteralString = """
            insert into mcp_executions as e (id, user_id, bot_id, mcp_server_id, server_name, query_id, tool_name,
                input_parameters, status, attempts, "timestamp")
            select %(id)s, s.user_id, s.bot_id, s.id, %(server_name)s, %(query)s, %(tool)s, %(input)s, 'started',
                %(attempts)s, %(timestamp)s
            from mcp_servers s
            where s.id = %(server)s and s.bot_id = %(bot)s and s.user_id = %(user)s and s.deleted_at is null
            on conflict (id) do update set attempts = e.attempts where e.status = 'started'
            returning id
        """
        parameters = {
            "id": execution.id,
            "user": execution.user_id,
            "bot": execution.bot_id,
            "server": execution.server_id,
            "server_name": storable(execution.server_name),
            "query": execution.query_id,
            "tool": storable(execution.tool_name),
            "input": as_json(execution.input_parameters),
            "attempts": execution.attempts,
            "timestamp": execution.timestamp,
        }
        if not self._database.fetch(execution.user_id, statement, parameters, tuple_row):
            raise NotFound("The tool server is no longer registered.", code="server_not_found")

    def finish(self, user_id: UserId, execution_id: ExecutionId, outcome: ExecutionOutcome) -> bool:
        statement: LiteralString = """
            update mcp_executions set status = %(status)s, execution_time_ms = %(milliseconds)s,
                attempts = %(attempts)s, output_result = %(output)s, error_code = %(code)s, error_message = %(message)s
            where id = %(id)s and user_id = %(user)s and status = 'started'
        """
        parameters = {
            "id": execution_id,
            "user": user_id,
            "status": outcome.status,
            "milliseconds": outcome.execution_time_ms,
            "attempts": outcome.attempts,
            "output": None if outcome.output_result is None else as_json(outcome.output_result),
            "code": outcome.error_code,
            "message": None if outcome.error_message is None else storable(outcome.error_message),
        }
        with self._database.transaction(user_id) as connection:
            return connection.execute(statement, parameters).rowcount == 1

    def list(
        self,
        user_id: UserId,
        bot_id: BotId,
        *,
        status: ExecutionStatus | None,
        tool_name: str | None,
        since: datetime | None,
        until: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page[Execution]:
        after = cursors.decode(cursor)
        statement: LiteralString = f"""
            select {_COLUMNS} from mcp_executions
            where bot_id = %(bot)s and user_id = %(user)s
                and (%(status)s::text is null or status = %(status)s)
                and (%(tool)s::text is null or tool_name = %(tool)s)
                and (%(since)s::timestamptz is null or "timestamp" >= %(since)s)
                and (%(until)s::timestamptz is null or "timestamp" < %(until)s)
                and (%(after)s::timestamptz is null or ("timestamp", id) < (%(after)s, %(after_id)s))
            order by "timestamp" desc, id desc limit %(limit)s
        """
        parameters = {
            "bot": bot_id,
            "user": user_id,
            "status": status,
            "tool": tool_name,
            "since": since,
            "until": until,
            "after": after and after.created_at,
            "after_id": after and after.id,
            "limit": limit + 1,
        }
        rows = self._database.fetch(user_id, statement, parameters, kwargs_row(_execution))
        return cursors.page(rows, limit, lambda row: cursors.Position(row.timestamp, row.id))


def _execution(*, id: UUID, mcp_server_id: UUID, status: str, **columns: Any) -> Execution:  # noqa: A002, ANN401
    return Execution(
        id=ExecutionId(id), server_id=ToolServerId(mcp_server_id), status=ExecutionStatus(status), **columns
    )
