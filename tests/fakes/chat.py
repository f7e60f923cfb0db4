"""A chat model that says what it is told to."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from botforge.domain.answer import Usage
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.ports.chat import Completion, Message, ToolOffer, ToolRequest

Said = str | Completion
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(slots=True)
class ScriptedChatModel:
    """``reply``: what it says, or a function of the messages; ``failure``: the code of an error instead.

    ``script`` is used up first, one a call. As strict as the service: tools have acceptable names, and every request
    for a call finds its answer before anything else is said.
    """

    reply: Said | Callable[[Sequence[Message]], Said] = "Yes [1]."
    failure: str | None = None
    script: list[Said | ChatModelUnavailable] = field(default_factory=list[Said | ChatModelUnavailable])
    seen: list[Sequence[Message]] = field(default_factory=list[Sequence[Message]])
    models: list[str | None] = field(default_factory=list[str | None])
    offered: list[Sequence[ToolOffer]] = field(default_factory=list[Sequence[ToolOffer]])
    forced: list[bool] = field(default_factory=list[bool])
    deadlines: list[Deadline] = field(default_factory=list[Deadline])

    def complete(
        self,
        messages: Sequence[Message],
        *,
        model: str | None,
        deadline: Deadline,
        tools: Sequence[ToolOffer] = (),
        must_answer: bool = False,
    ) -> Completion:
        if deadline.remaining() <= 0:
            raise ChatModelUnavailable("The LLM was not asked.", code="llm_timeout")
        _check(messages, tools)
        self.seen.append(list(messages))
        self.models.append(model)
        self.offered.append(tools)
        self.forced.append(must_answer)
        self.deadlines.append(deadline)
        if self.failure:
            raise ChatModelUnavailable("The LLM failed.", code=self.failure)
        said = self.script.pop(0) if self.script else self.reply
        if isinstance(said, ChatModelUnavailable):
            raise said
        if callable(said):
            said = said(messages)
        if isinstance(said, Completion):
            return said
        return Completion(said, model or "scripted", Usage(10, 5))


def calls(*asked: tuple[str, object], text: str = "") -> Completion:
    """A completion that asks for calls: (name, arguments), where arguments that are a string are sent as they are."""
    requests = tuple(
        ToolRequest(f"call_{number}", name, arguments if isinstance(arguments, str) else json.dumps(arguments))
        for number, (name, arguments) in enumerate(asked)
    )
    return Completion(text, "scripted", Usage(10, 5), tool_requests=requests)


def _check(messages: Sequence[Message], tools: Sequence[ToolOffer]) -> None:
    names = [tool.name for tool in tools]
    assert len(set(names)) == len(names)
    assert all(_NAME.fullmatch(name) for name in names)
    assert all(len(tool.description) <= 1_024 and tool.parameters.get("type") == "object" for tool in tools)
    waiting: set[str] = set()
    for message in messages:
        if message.role == "tool":
            assert message.tool_request_id in waiting, "an answer to no request"
            waiting.remove(str(message.tool_request_id))
            continue
        assert not waiting, "a request without an answer"
        ids = [request.id for request in message.tool_requests]
        assert len(set(ids)) == len(ids)
        for request in message.tool_requests:
            assert _NAME.fullmatch(request.name)
            json.loads(request.arguments)
        waiting = set(ids)
    assert not waiting, "a request without an answer"
