"""A large language model that completes a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from botforge.domain.answer import Usage
from botforge.domain.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    text: str
    model: str  # as the provider names the model that answered
    usage: Usage  # zeros where the provider tells none
    truncated: bool = False  # it stopped at a length limit, in the middle of what it had to say


class ChatModel(Protocol):
    def complete(self, messages: Sequence[Message], *, model: str | None, deadline: Deadline) -> Completion:
        """The model's reply, before ``deadline`` or not at all; ``model=None`` means the configured one.

        Retries of the transport happen inside the deadline. Raises ChatModelUnavailable, whose code says in which
        way the provider failed.
        """
        ...
