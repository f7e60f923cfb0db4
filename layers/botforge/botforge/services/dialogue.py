"""Messages in a conversation: a follow-up is made to stand alone before anything is decided or searched."""

from dataclasses import dataclass, field, replace

from botforge.domain.answer import Usage
from botforge.domain.conversation import MAX_TURNS, Entry, Turn, bounded, turns_of
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable, Conflict, DatabaseUnavailable, DeadlineExceeded
from botforge.domain.follow_up import is_follow_up, joined
from botforge.domain.ids import ConversationId
from botforge.domain.prompting import REWRITE, message_after_turns, rewritten_and_translated
from botforge.domain.query import Query
from botforge.ports.chat import ChatModel, Message
from botforge.ports.repositories import Conversations

_REWRITE_SHARE = 0.3  # of the time that is left: what follows needs most of it
_MAX_REWRITTEN = 1_000  # characters


@dataclass(frozen=True, slots=True)
class Resolved:
    """A message as it can be understood alone. ``degraded``: the missing part → why."""

    text: str
    degraded: dict[str, str] = field(default_factory=dict[str, str])
    message: str | None = None  # as it came, where the text holds the question before it as well
    llm_asked: bool = False  # whatever came of it: an LLM that is asked twice for one search costs more than it gives
    translation: str | None = None  # into English, if the LLM rewrote a message in another language
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Dialogue:
    conversations: Conversations
    chat: ChatModel | None

    def resolve(self, query: Query, deadline: Deadline) -> Resolved:
        """The query's text with what it means by "it"; as it is outside a conversation and in its first message.

        With an LLM, rewritten; without one, or when it fails, a follow-up is joined to the question before it.
        Raises Conflict for a conversation with another bot, before anything is done; DatabaseUnavailable.
        """
        if query.conversation_id is None:
            return Resolved(query.text)
        messages = self.conversations.recent(query.user_id, query.bot_id, query.conversation_id, limit=2 * MAX_TURNS)
        turns = bounded(turns_of(messages))
        if not turns:
            self._refuse_another_bots(query, query.conversation_id)
            return Resolved(query.text)
        if self.chat is None:
            return _joined(turns, query.text)
        try:
            return self._rewritten(self.chat, turns, query, deadline)
        except ChatModelUnavailable as error:
            return replace(_joined(turns, query.text), degraded={"rewriting": error.code}, llm_asked=True)

    def remember(self, query: Query, answer: str) -> bool:
        """Add the turn to its conversation; False if that could not be done, which must not cost the answer."""
        if query.conversation_id is None:
            return True
        turn = Turn(query.text, answer)
        entry = Entry(query.user_id, query.bot_id, query.conversation_id, query.client_id, query.id, turn)
        try:
            self.conversations.append(entry)
        except (Conflict, DatabaseUnavailable, DeadlineExceeded):
            return False
        return True

    def _refuse_another_bots(self, query: Query, conversation_id: ConversationId) -> None:
        conversation = self.conversations.get(query.user_id, conversation_id)
        if conversation is not None and conversation.bot_id != query.bot_id:
            raise Conflict(
                "This conversation is with another bot.",
                code="conversation_of_another_bot",
                field="conversation_id",
                next_step="Use a new conversation_id for each bot.",
            )

    def _rewritten(self, chat: ChatModel, turns: list[Turn], query: Query, deadline: Deadline) -> Resolved:
        messages = (Message("system", REWRITE), Message("user", message_after_turns(turns, query.text)))
        limited = deadline.less(deadline.remaining() * (1 - _REWRITE_SHARE))
        completion = chat.complete(messages, model=query.model, deadline=limited)
        text, translation = rewritten_and_translated(completion.text)
        bound = max(_MAX_REWRITTEN, 2 * len(query.text))
        if not text or completion.truncated or len(text) > bound:
            degraded = {"rewriting": "llm_invalid_response"}
            return replace(_joined(turns, query.text), degraded=degraded, llm_asked=True, usage=completion.usage)
        if translation is not None and len(translation) > bound:
            translation = None
        return Resolved(text, llm_asked=True, translation=translation, usage=completion.usage)


def _joined(turns: list[Turn], text: str) -> Resolved:
    return Resolved(joined(turns, text), message=text) if is_follow_up(text) else Resolved(text)
