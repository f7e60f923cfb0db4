"""Reading and deleting conversations."""

from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.conversation import Conversation, ConversationMessage
from botforge.domain.errors import NotFound
from botforge.domain.ids import BotId, ConversationId, UserId
from botforge.domain.page import Page
from botforge.ports.repositories import Bots, Conversations


@dataclass(frozen=True, slots=True)
class ConversationService:
    bots: Bots
    conversations: Conversations

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[Conversation]:
        """Raises NotFound unless the bot is the user's."""
        if self.bots.get(user_id, bot_id) is None:
            raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")
        return self.conversations.list(user_id, bot_id, limit=limit, cursor=cursor)

    def read(
        self, user_id: UserId, conversation_id: ConversationId, *, after: int, limit: int
    ) -> tuple[Conversation, Sequence[ConversationMessage]]:
        """The conversation and its messages with a number above ``after``. Raises NotFound."""
        conversation = self.conversations.get(user_id, conversation_id)
        if conversation is None:
            raise _unknown()
        return conversation, self.conversations.messages(user_id, conversation_id, after=after, limit=limit)

    def delete(self, user_id: UserId, conversation_id: ConversationId) -> None:
        """Raises NotFound."""
        if not self.conversations.delete(user_id, conversation_id):
            raise _unknown()


def _unknown() -> NotFound:
    return NotFound("There is no such conversation.", code="conversation_not_found", field="conversation_id")
