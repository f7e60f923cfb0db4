"""What an owner teaches a bot by example: sentences that mean an action, sentences that mean a question."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from botforge.domain.errors import NotFound
from botforge.domain.ids import BotId, RoutingExampleId, UserId
from botforge.domain.page import Page
from botforge.domain.query import Intent
from botforge.domain.routing_example import RoutingExample
from botforge.ports.clock import Clock
from botforge.ports.embedding import Embedder
from botforge.ports.repositories import Bots
from botforge.ports.routing import RoutingExamples


@dataclass(frozen=True, slots=True)
class RoutingExampleService:
    """Examples are embedded as they are saved, so they count from the next query on."""

    bots: Bots
    examples: RoutingExamples
    embedder: Embedder
    clock: Clock

    def add(self, user_id: UserId, bot_id: BotId, sentences: Sequence[tuple[str, Intent]]) -> Sequence[RoutingExample]:
        """Save sentences with their intents; one that the bot has already gets its new intent.

        Raises NotFound for a bot that is not the user's, Conflict above the bound, EmbeddingUnavailable.
        """
        self._require(user_id, bot_id)
        now = self.clock.now()
        # Of a sentence that comes twice the last intent counts, as it would in two requests.
        last = dict(sentences)
        made = [
            RoutingExample(RoutingExampleId(uuid4()), user_id, bot_id, text, intent, now, now)
            for text, intent in last.items()
        ]
        return self.examples.save(made, [one.vector for one in self.embedder.embed(list(last))])

    def get(self, user_id: UserId, bot_id: BotId, example_id: RoutingExampleId) -> RoutingExample:
        return _known(self.examples.get(user_id, bot_id, example_id))

    def list(self, user_id: UserId, bot_id: BotId, *, limit: int, cursor: str | None) -> Page[RoutingExample]:
        self._require(user_id, bot_id)
        return self.examples.list(user_id, bot_id, limit=limit, cursor=cursor)

    def change(
        self,
        user_id: UserId,
        bot_id: BotId,
        example_id: RoutingExampleId,
        *,
        text: str | None = None,
        intent: Intent | None = None,
    ) -> RoutingExample:
        """Raises Conflict when another example of the bot has that text."""
        example = self.get(user_id, bot_id, example_id)
        changed = replace(example, text=text or example.text, intent=intent or example.intent)
        vector = self.embedder.embed([changed.text])[0].vector
        return _known(self.examples.update(changed, vector))

    def delete(self, user_id: UserId, bot_id: BotId, example_id: RoutingExampleId) -> None:
        if not self.examples.delete(user_id, bot_id, example_id):
            raise _unknown()

    def _require(self, user_id: UserId, bot_id: BotId) -> None:
        if self.bots.get(user_id, bot_id) is None:
            raise NotFound("There is no such bot.", code="bot_not_found", field="bot_id")


def _known(example: RoutingExample | None) -> RoutingExample:
    if example is None:
        raise _unknown()
    return example


def _unknown() -> NotFound:
    return NotFound("There is no such routing example.", code="routing_example_not_found", field="example_id")
