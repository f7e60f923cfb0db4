"""An answer and its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from botforge.domain.chunk import Passage


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the LLM charged for."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as the reader sees it; ``number`` is its marker in the text: ``[1]``."""

    number: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    sources: tuple[Source, ...]
    abstained: bool = False  # nothing relevant was found; ``sources`` is empty
    model: str | None = None  # None: no LLM wrote it
    usage: Usage = Usage()
    removed_markers: int = 0  # citation markers that pointed at no source and were taken out
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])  # the missing part → why: "llm" → "llm_timeout"
