"""An answer and its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from botforge.domain.chunk import Passage


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the LLM charged for."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.prompt_tokens + other.prompt_tokens, self.completion_tokens + other.completion_tokens)


@dataclass(frozen=True, slots=True)
class Link:
    """Where anyone who holds it can read a document for a while."""

    url: str
    expires_in: int  # seconds


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as the reader sees it; ``number`` is its marker in the text: ``[1]``."""

    number: int
    passage: Passage
    link: Link | None = None  # to the document that the passage is from


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    sources: tuple[Source, ...]  # those that the text cites, in the order of their numbers
    retrieved: tuple[Source, ...] = ()  # given to answer from as well, and not cited
    abstained: bool = False  # the documents do not answer the question; ``sources`` is empty
    grounded: bool | None = None  # every statement is supported by what it cites; None: nothing was stated or checked
    unsupported: tuple[str, ...] = ()  # the sentences that are not
    model: str | None = None  # None: no LLM wrote it
    usage: Usage = Usage()
    removed_markers: int = 0  # citation markers that pointed at no source and were taken out
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])  # the missing part → why: "llm" → "llm_timeout"
