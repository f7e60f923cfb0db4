"""A chat model that says what it is told to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from botforge.domain.answer import Usage
from botforge.domain.deadline import Deadline
from botforge.domain.errors import ChatModelUnavailable
from botforge.ports.chat import Completion, Message, ToolOffer


@dataclass(slots=True)
class ScriptedChatModel:
    """``reply``: the text, or a function of the messages; ``failure``: the code of an error instead."""

    reply: str | Callable[[Sequence[Message]], str] = "Yes [1]."
    failure: str | None = None
    seen: list[Sequence[Message]] = field(default_factory=list[Sequence[Message]])
    models: list[str | None] = field(default_factory=list[str | None])

    def complete(
        self,
        messages: Sequence[Message],
        *,
        model: str | None,
        deadline: Deadline,
        tools: Sequence[ToolOffer] = (),
        must_answer: bool = False,
    ) -> Completion:
        assert not tools, "this model answers from passages"
        assert not must_answer
        if deadline.remaining() <= 0:
            raise ChatModelUnavailable("The LLM was not asked.", code="llm_timeout")
        self.seen.append(messages)
        self.models.append(model)
        if self.failure:
            raise ChatModelUnavailable("The LLM failed.", code=self.failure)
        text = self.reply if isinstance(self.reply, str) else self.reply(messages)
        return Completion(text, model or "scripted", Usage(10, 5))
