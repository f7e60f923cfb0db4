"""The table ``queries``: a row for each question, and their sums."""

from datetime import datetime
from typing import Any, LiteralString

from psycopg.rows import kwargs_row, tuple_row
from psycopg.types.json import Jsonb

from botforge.adapters.postgres.database import Database
from botforge.domain.ids import BotId, UserId
from botforge.domain.query import QueryRecord, QueryStatistics


class PostgresQueries:
    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, record: QueryRecord) -> None:
        statement: LiteralString = """
            insert into queries (id, user_id, bot_id, client_id, query, intent, processing_type, status, error_code,
                degraded, best_relevance, sources, model, prompt_tokens, completion_tokens, latency_ms, stage_ms)
            values (%(id)s, %(user)s, %(bot)s, %(client)s, %(query)s, %(intent)s, %(processing)s, %(status)s, %(error)s,
                %(degraded)s, %(relevance)s, %(sources)s, %(model)s, %(prompt)s, %(completion)s, %(latency)s,
                %(stages)s)
            on conflict (id) do nothing
            returning id
        """
        query = record.query
        parameters = {
            "id": query.id,
            "user": query.user_id,
            "bot": query.bot_id,
            "client": query.client_id,
            "query": query.text,
            "intent": record.intent,
            "processing": record.processing_type,
            "status": record.status,
            "error": record.error_code,
            "degraded": sorted(record.degraded),
            "relevance": record.best_relevance,
            "sources": record.sources,
            "model": record.model,
            "prompt": record.usage.prompt_tokens,
            "completion": record.usage.completion_tokens,
            "latency": record.latency_ms,
            "stages": Jsonb(record.stage_ms),
        }
        # The row's own id makes writing it twice harmless, so it takes the single round trip of a read.
        self._database.fetch(query.user_id, statement, parameters, tuple_row)

    def statistics(self, user_id: UserId, bot_id: BotId, *, since: datetime, until: datetime) -> QueryStatistics:
        statement: LiteralString = """
            with window_rows as materialized (
                select * from queries
                where bot_id = %(bot)s and user_id = %(user)s and created_at >= %(since)s and created_at < %(until)s
            )
            select count(*)::int as total,
                coalesce((select jsonb_object_agg(intent, n) from (
                    select intent, count(*) as n from window_rows group by intent) as x), '{}') as by_intent,
                coalesce((select jsonb_object_agg(status, n) from (
                    select status, count(*) as n from window_rows group by status) as x), '{}') as by_status,
                (count(*) filter (where cardinality(degraded) > 0))::int as degraded,
                percentile_cont(0.5) within group (order by latency_ms) as latency_p50_ms,
                percentile_cont(0.95) within group (order by latency_ms) as latency_p95_ms,
                avg(best_relevance) as mean_relevance,
                coalesce(sum(prompt_tokens), 0)::bigint as prompt_tokens,
                coalesce(sum(completion_tokens), 0)::bigint as completion_tokens,
                coalesce((select jsonb_object_agg(status, n) from (
                    select status, count(*) as n from mcp_executions
                    where bot_id = %(bot)s and user_id = %(user)s
                        and "timestamp" >= %(since)s and "timestamp" < %(until)s
                    group by status) as x), '{}') as executions_by_status
            from window_rows
        """
        parameters = {"bot": bot_id, "user": user_id, "since": since, "until": until}

        def statistics(**columns: Any) -> QueryStatistics:  # noqa: ANN401 - a row's columns
            return QueryStatistics(since=since, until=until, **columns)

        return self._database.fetch(user_id, statement, parameters, kwargs_row(statistics))[0]
