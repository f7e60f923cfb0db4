"""Which of a bot's tools a message is about."""

from collections.abc import Sequence
from dataclasses import dataclass

from botforge.domain.clauses import clauses
from botforge.domain.ids import BotId, UserId
from botforge.domain.tool import ServerTool
from botforge.domain.tool_ranking import ranked
from botforge.ports.embedding import Embedder
from botforge.ports.repositories import CallableTools

_NEAREST = 20  # to a message that asks for one thing
_NEAREST_EACH = 8  # to the message, and to each of its clauses; more of them change nothing (docs/tools.md)


@dataclass(frozen=True, slots=True)
class Selection:
    tools: tuple[ServerTool, ...]  # best first
    scores: tuple[float, ...]  # their cosines to what they answer best
    callable_tools: int  # how many there were to choose from


@dataclass(frozen=True, slots=True)
class ToolSelector:
    embedder: Embedder
    servers: CallableTools

    def select(self, user_id: UserId, bot_id: BotId, text: str, *, limit: int) -> Selection:
        """The ``limit`` tools that the text is most likely about. Raises EmbeddingUnavailable, DatabaseUnavailable."""
        parts = [text, *clauses(text)]
        vectors = [embedding.vector for embedding in self.embedder.embed(parts)]
        found: Sequence[tuple[ServerTool, Sequence[float]]]
        if len(vectors) == 1:  # most messages ask for one thing, and this search is the cheaper one
            nearest = self.servers.nearest(user_id, bot_id, vectors[0], limit=_NEAREST)
            found = [(target, (cosine,)) for target, cosine in nearest]
            all_found = len(found) < _NEAREST
        else:
            found = self.servers.nearest_to_any(user_id, bot_id, vectors, limit=_NEAREST_EACH)
            all_found = len(found) < _NEAREST_EACH
        known = len(found) if all_found else self.servers.callable_count(user_id, bot_id)
        chosen = ranked(parts, found, limit=limit)
        return Selection(tuple(one.target for one in chosen), tuple(one.cosine for one in chosen), known)
