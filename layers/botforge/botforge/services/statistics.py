"""How a bot has been doing."""

from dataclasses import dataclass
from datetime import timedelta

from botforge.domain.errors import NotFound
from botforge.domain.ids import BotId, UserId
from botforge.domain.query import QueryStatistics
from botforge.ports.clock import Clock
from botforge.ports.repositories import Bots, Queries


@dataclass(frozen=True, slots=True)
class StatisticsService:
    bots: Bots
    queries: Queries
    clock: Clock

    def of_bot(self, user_id: UserId, bot_id: BotId, *, window: timedelta) -> QueryStatistics:
        """The bot's queries of the last ``window``, summed up. Raises NotFound."""
        if self.bots.get(user_id, bot_id) is None:
            raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")
        now = self.clock.now()
        return self.queries.statistics(user_id, bot_id, since=now - window, until=now + timedelta(seconds=1))
