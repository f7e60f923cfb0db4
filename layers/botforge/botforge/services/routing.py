"""What a message needs: the evidence of this bot's tools, examples and documents, joined into one decision."""

from collections.abc import Callable
from dataclasses import dataclass

from botforge.domain.errors import EmbeddingUnavailable
from botforge.domain.ids import BotId, UserId
from botforge.domain.routing import (
    MAX_EXAMPLES,
    MAX_TOOLS,
    DecidedBy,
    Routing,
    decide,
    may_turn_on_a_passage,
)
from botforge.domain.small_talk import small_talk
from botforge.ports.embedding import Embedder
from botforge.ports.routing import NearestExamples, RoutingModel, RoutingTools

BestPassage = Callable[[], float | None]


def _no_documents() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Router:
    """The embedder caches: the message is embedded once, however many parts of the request ask for it."""

    embedder: Embedder
    tools: RoutingTools
    examples: NearestExamples
    model: RoutingModel

    def route(self, user_id: UserId, bot_id: BotId, text: str, *, best_passage: BestPassage = _no_documents) -> Routing:
        """Decide for a bot that is known to be the user's. Raises DatabaseUnavailable.

        A head that was not trained on this embedding model's vectors is not asked, nor are the documents, whose
        relevance was calibrated for that model as well; the decision says so.
        ``best_passage`` searches the bot's documents and returns the best relevance (None: it could not); it is called
        only where the answer may matter.
        """
        kind = small_talk(text)
        if kind is not None:
            return Routing(0.0, DecidedBy.SMALL_TALK, small_talk=kind)
        try:
            vector = self.embedder.embed([text])[0].vector
        except EmbeddingUnavailable:
            return Routing(0.0, DecidedBy.NO_EMBEDDING)
        tools = self.tools.nearest(user_id, bot_id, vector, limit=MAX_TOOLS)
        if not tools:
            return decide(0.0, tools=())
        trained = self.model.model_id == self.embedder.model_id
        p_execution = self.model.p_execution(text, vector, tools) if trained else None
        passage = best_passage() if p_execution is not None and may_turn_on_a_passage(p_execution) else None
        examples = self.examples.nearest(user_id, bot_id, vector, limit=MAX_EXAMPLES)
        return decide(p_execution, tools=tools, best_passage=passage, examples=examples)
