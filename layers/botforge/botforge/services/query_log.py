"""What every kind of query begins and ends with: whose bot it is, and the row that remembers how it went."""

from dataclasses import dataclass

from botforge.domain.bot import Bot
from botforge.domain.errors import Conflict, DatabaseUnavailable, DeadlineExceeded, NotFound
from botforge.domain.query import Query, QueryRecord
from botforge.ports.repositories import Bots, Queries


@dataclass(frozen=True, slots=True)
class QueryLog:
    bots: Bots
    queries: Queries

    def bot(self, query: Query) -> Bot:
        """The bot that is asked. Raises NotFound unless it is the user's, Conflict if it is switched off."""
        bot = self.bots.get(query.user_id, query.bot_id)
        if bot is None:
            raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")
        if not bot.is_active:
            raise Conflict(
                "This bot is switched off.",
                code="bot_inactive",
                field="bot_id",
                next_step="Set is_active to true with PATCH /api/bots/{bot_id}.",
            )
        return bot

    def remember(self, record: QueryRecord) -> bool:
        """Statistics must not cost anyone an answer: what cannot be recorded is reported, and no more."""
        try:
            self.queries.record(record)
        except (DatabaseUnavailable, DeadlineExceeded):
            return False
        return True
