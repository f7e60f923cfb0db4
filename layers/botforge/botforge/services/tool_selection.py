"""Which of a bot's tools a message is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from botforge.domain.ids import BotId, UserId
from botforge.domain.tool import ServerTool
from botforge.ports.embedding import Embedder
from botforge.ports.repositories import CallableTools

_NEAREST = 40


@dataclass(frozen=True, slots=True)
class Selection:
    tools: tuple[ServerTool, ...]  # best first
    scores: tuple[float, ...]
    callable_tools: int  # how many there were to choose from
    degraded: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class ToolSelector:
    embedder: Embedder
    servers: CallableTools

    def select(self, user_id: UserId, bot_id: BotId, text: str, *, limit: int) -> Selection:
        """The ``limit`` tools that the text is most likely about. Raises EmbeddingUnavailable, DatabaseUnavailable."""
        vector = self.embedder.embed([text])[0].vector
        nearest = self.servers.nearest(user_id, bot_id, vector, limit=_NEAREST)
        known = len(nearest) if len(nearest) < _NEAREST else self.servers.callable_count(user_id, bot_id)
        chosen = nearest[:limit]
        return Selection(tuple(tool for tool, _ in chosen), tuple(score for _, score in chosen), known)
