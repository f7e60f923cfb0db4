"""A large language model that completes a conversation, and may ask for tools to be called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from botforge.domain.answer import Usage
from botforge.domain.deadline import Deadline


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool as the model sees it."""

    name: str  # [a-zA-Z0-9_-]{1,64}: what the API accepts
    description: str
    parameters: Mapping[str, Any]  # JSON Schema of an object


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that the model asks for."""

    id: str  # the answer to it repeats this id
    name: str
    arguments: str  # JSON, if the model kept to it


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_requests: tuple[ToolRequest, ...] = ()  # of an assistant
    tool_request_id: str | None = None  # of a tool's answer


@dataclass(frozen=True, slots=True)
class Completion:
    text: str  # empty only beside tool requests
    model: str  # as the provider names the model that answered
    usage: Usage  # zeros where the provider tells none
    truncated: bool = False  # it stopped at a length limit, in the middle of what it had to say
    tool_requests: tuple[ToolRequest, ...] = ()


class ChatModel(Protocol):
    def complete(
        self,
        messages: Sequence[Message],
        *,
        model: str | None,
        deadline: Deadline,
        tools: Sequence[ToolOffer] = (),
        must_answer: bool = False,
    ) -> Completion:
        """The model's reply, before ``deadline`` or not at all; ``model=None`` means the configured one.

        With ``tools`` it may ask for calls; ``must_answer``: it may look at them and not ask. Retries of the transport
        happen inside the deadline. Raises ChatModelUnavailable, whose code says in which way the provider failed.
        """
        ...
