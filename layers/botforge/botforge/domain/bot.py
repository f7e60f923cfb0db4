"""A bot: one owner, one namespace of documents, its own retrieval settings."""

from dataclasses import dataclass
from datetime import datetime

from botforge.domain.ids import BotId, UserId

MAX_CHUNKS = 20
DEFAULT_MAX_CHUNKS = 5
DEFAULT_SIMILARITY_THRESHOLD = 0.2  # calibrated relevance, not a cosine: see domain/relevance.py


@dataclass(frozen=True, slots=True)
class Bot:
    id: BotId
    user_id: UserId
    name: str
    description: str
    is_active: bool
    max_chunks: int  # passages given to an answer, 1..MAX_CHUNKS
    similarity_threshold: float  # the least calibrated relevance (0..1) that a passage needs
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Namespace:
    """A bot's namespace in the vector index, with what it holds."""

    bot_id: BotId
    bot_name: str
    documents: int  # those that are indexed
    chunks: int  # of their active generations
