"""What the agent did for a message, and its bounds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from botforge.domain.answer import Usage
from botforge.domain.tool_use import ToolUse

MAX_ROUNDS = 6  # in which the model may ask for calls; one more, without tools, answers
MAX_IDENTICAL_CALLS = 2  # of a tool that may be repeated, or whose call surely failed; of any other, one
MAX_CALLS = 32  # for one message
MAX_PARALLEL_CALLS = 8
MAX_TOOLS = 8  # that the model is offered
MAX_ARGUMENT_CHARACTERS = 65_536  # of one call


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    text: str
    tools_used: tuple[ToolUse, ...]  # in the order of the requests
    reasoning: str  # what was done, told from the trace
    rounds: int = 0  # in which calls were asked for
    withheld: tuple[str, ...] = ()  # servers whose circuit is open
    abstained: bool = False  # there was no tool to act with
    model: str | None = None  # None: no LLM wrote the text
    usage: Usage = Usage()
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])  # the missing part → why
