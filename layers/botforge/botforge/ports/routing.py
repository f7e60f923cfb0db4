"""What the router asks: the trained head, and what a bot's owner taught it."""

from collections.abc import Sequence
from typing import Protocol

from botforge.domain.ids import BotId, RoutingExampleId, UserId
from botforge.domain.page import Page
from botforge.domain.routing import ExampleEvidence, ToolEvidence
from botforge.domain.routing_example import RoutingExample
from botforge.ports.embedding import Vector


class RoutingModel(Protocol):
    @property
    def model_id(self) -> str:
        """The embedding model whose vectors the head was trained on."""
        ...

    def p_execution(self, text: str, vector: Vector, tools: Sequence[ToolEvidence]) -> float:
        """How probable it is that the message needs an action of one of ``tools``, 0..1.

        ``vector``: the message's embedding. ``tools``: those of the bot nearest to it, with their vectors; one at
        least.
        """
        ...


class RoutingTools(Protocol):
    def nearest(self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int) -> Sequence[ToolEvidence]:
        """The callable tools nearest to ``vector``, best first, with their own vectors; ``limit`` at most, one round
        trip. Raises DatabaseUnavailable."""
        ...


class NearestExamples(Protocol):
    def nearest(self, user_id: UserId, bot_id: BotId, vector: Vector, *, limit: int) -> Sequence[ExampleEvidence]:
        """The nearest of each intent, ``limit`` at most in all, best first; one round trip."""
        ...


class RoutingExamples(NearestExamples, Protocol):
    """The table ``routing_examples``. Raises DatabaseUnavailable; every method sees one tenant's rows only."""

    def save(self, examples: Sequence[RoutingExample], vectors: Sequence[Vector]) -> Sequence[RoutingExample]:
        """Insert examples of one bot, or give a text that it has already its new intent; as stored, in order.

        Raises NotFound when no such bot belongs to the user, Conflict when it would have more than it may.
        """
        ...

    def get(self, user_id: UserId, bot_id: BotId, example_id: RoutingExampleId) -> RoutingExample | None: ...

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[RoutingExample]: ...

    def update(self, example: RoutingExample, vector: Vector) -> RoutingExample | None:
        """Save text and intent. None if unknown; raises Conflict when another example has that text."""
        ...

    def delete(self, user_id: UserId, bot_id: BotId, example_id: RoutingExampleId) -> bool:
        """False if unknown."""
        ...
