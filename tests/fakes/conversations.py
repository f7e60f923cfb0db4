"""Conversations in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from botforge.domain.conversation import Conversation, ConversationMessage, Entry, Role
from botforge.domain.errors import DatabaseUnavailable
from botforge.domain.ids import BotId, ConversationId, UserId
from botforge.domain.page import Page

_NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class InMemoryConversations:
    unavailable: bool = False
    said: dict[tuple[UserId, BotId, ConversationId], list[ConversationMessage]] = field(
        default_factory=dict[tuple[UserId, BotId, ConversationId], list[ConversationMessage]]
    )

    def recent(
        self, user_id: UserId, bot_id: BotId, conversation_id: ConversationId, *, limit: int
    ) -> Sequence[ConversationMessage]:
        return self.said.get((user_id, bot_id, conversation_id), [])[-limit:]

    def append(self, entry: Entry) -> None:
        if self.unavailable:
            raise DatabaseUnavailable("The database does not answer.")
        messages = self.said.setdefault((entry.user_id, entry.bot_id, entry.conversation_id), [])
        for role, text in ((Role.USER, entry.turn.question), (Role.ASSISTANT, entry.turn.answer)):
            messages.append(ConversationMessage(len(messages), role, text, _NOW))

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[Conversation]:  # noqa: ARG002
        found = [
            Conversation(conversation, user, bot, "client", _NOW, _NOW)
            for user, bot, conversation in self.said
            if (user, bot) == (user_id, bot_id)
        ]
        return Page(found[:limit], None)

    def get(self, user_id: UserId, conversation_id: ConversationId) -> Conversation | None:
        for user, bot, conversation in self.said:
            if (user, conversation) == (user_id, conversation_id):
                return Conversation(conversation, user, bot, "client", _NOW, _NOW)
        return None

    def messages(
        self, user_id: UserId, conversation_id: ConversationId, *, after: int, limit: int
    ) -> Sequence[ConversationMessage]:
        found = [messages for key, messages in self.said.items() if (key[0], key[2]) == (user_id, conversation_id)]
        return [message for messages in found for message in messages if message.number > after][:limit]

    def delete(self, user_id: UserId, conversation_id: ConversationId) -> bool:
        keys = [key for key in self.said if (key[0], key[2]) == (user_id, conversation_id)]
        for key in keys:
            del self.said[key]
        return bool(keys)
