"""A sentence with the intent that its bot's owner wants for it and its like."""

from dataclasses import dataclass
from datetime import datetime

from botforge.domain.ids import BotId, RoutingExampleId, UserId
from botforge.domain.query import Intent

MAX_EXAMPLES_PER_BOT = 500
MAX_EXAMPLE_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class RoutingExample:
    id: RoutingExampleId
    user_id: UserId
    bot_id: BotId
    text: str
    intent: Intent
    created_at: datetime
    updated_at: datetime
