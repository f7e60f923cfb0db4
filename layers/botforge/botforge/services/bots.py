"""Bots: create, read, change, delete."""

from dataclasses import dataclass, fields, replace
from uuid import uuid4

from botforge.domain.bot import DEFAULT_MAX_CHUNKS, DEFAULT_SIMILARITY_THRESHOLD, Bot
from botforge.domain.errors import NotFound
from botforge.domain.ids import BotId, UserId
from botforge.domain.page import Page
from botforge.ports.clock import Clock
from botforge.ports.repositories import Bots


@dataclass(frozen=True, slots=True)
class BotChanges:
    """What an owner may change; None leaves a field as it is."""

    name: str | None = None
    description: str | None = None
    is_active: bool | None = None
    max_chunks: int | None = None
    similarity_threshold: float | None = None


@dataclass(frozen=True, slots=True)
class BotService:
    bots: Bots
    clock: Clock

    def create(self, user_id: UserId, name: str, changes: BotChanges) -> Bot:
        now = self.clock.now()
        bot = Bot(
            id=BotId(uuid4()),
            user_id=user_id,
            name=name,
            description="",
            is_active=True,
            max_chunks=DEFAULT_MAX_CHUNKS,
            similarity_threshold=DEFAULT_SIMILARITY_THRESHOLD,
            created_at=now,
            updated_at=now,
        )
        return self.bots.create(_changed(bot, changes))

    def get(self, user_id: UserId, bot_id: BotId) -> Bot:
        return _known(self.bots.get(user_id, bot_id))

    def list(self, user_id: UserId, *, limit: int, cursor: str | None) -> Page[Bot]:
        return self.bots.list(user_id, limit=limit, cursor=cursor)

    def change(self, user_id: UserId, bot_id: BotId, changes: BotChanges) -> Bot:
        return _known(self.bots.update(_changed(self.get(user_id, bot_id), changes)))

    def delete(self, user_id: UserId, bot_id: BotId) -> None:
        """Everything of the bot is gone for its owner at once; the monitor clears it away within minutes."""
        if not self.bots.delete(user_id, bot_id):
            raise _unknown()


def _changed(bot: Bot, changes: BotChanges) -> Bot:
    given = {field.name: value for field in fields(changes) if (value := getattr(changes, field.name)) is not None}
    return replace(bot, **given)


def _known(bot: Bot | None) -> Bot:
    if bot is None:
        raise _unknown()
    return bot


def _unknown() -> NotFound:
    return NotFound("There is no such bot.", code="bot_not_found", field="bot_id")
