"""What was said before, and how much of it a follow-up is read with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from uuid import UUID

from botforge.domain.clipping import clipped, estimated_tokens
from botforge.domain.ids import BotId, ConversationId, UserId

MAX_TURNS = 6
MAX_HISTORY_TOKENS = 1_000
_MAX_QUESTION_TOKENS = 200
_MAX_ANSWER_TOKENS = 200


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class ConversationMessage:
    number: int  # from 0
    role: Role
    text: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    id: ConversationId
    user_id: UserId
    bot_id: BotId
    client_id: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and what was answered."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn on its way into a conversation."""

    user_id: UserId
    bot_id: BotId
    conversation_id: ConversationId
    client_id: str
    query_id: UUID
    turn: Turn


def turns_of(messages: Sequence[ConversationMessage]) -> list[Turn]:
    """The turns in order; an answer without its question, cut off by a limit, is left out."""
    turns: list[Turn] = []
    for one, following in pairwise(messages):
        if one.role is Role.USER and following.role is Role.ASSISTANT:
            turns.append(Turn(one.text, following.text))
    return turns


def bounded(turns: Sequence[Turn]) -> list[Turn]:
    """The latest turns, each cut to a size, that fit MAX_TURNS and MAX_HISTORY_TOKENS; in order."""
    kept: list[Turn] = []
    room = MAX_HISTORY_TOKENS
    for turn in reversed(turns[-MAX_TURNS:]):
        cut = Turn(clipped(turn.question, _MAX_QUESTION_TOKENS), clipped(turn.answer, _MAX_ANSWER_TOKENS))
        room -= estimated_tokens(cut.question) + estimated_tokens(cut.answer)
        if room < 0:
            break
        kept.insert(0, cut)
    return kept
