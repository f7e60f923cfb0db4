"""Identifiers, and the two places where they are spelt as text: object keys and vector ids."""

from dataclasses import dataclass
from typing import NewType
from uuid import UUID

UserId = NewType("UserId", UUID)
BotId = NewType("BotId", UUID)
DocumentId = NewType("DocumentId", UUID)
ToolServerId = NewType("ToolServerId", UUID)
ToolId = NewType("ToolId", UUID)
ExecutionId = NewType("ExecutionId", UUID)
ConversationId = NewType("ConversationId", UUID)
RoutingExampleId = NewType("RoutingExampleId", UUID)

MAX_KEY_BYTES = 1024  # Amazon S3's limit for an object key, in UTF-8 bytes


@dataclass(frozen=True, slots=True)
class ChunkRef:
    """One chunk of one generation of one document; its text form is the id in the vector index."""

    document_id: DocumentId
    generation: int
    ordinal: int

    def __str__(self) -> str:
        return f"{self.document_id}:{self.generation}:{self.ordinal}"

    @classmethod
    def parse(cls, text: str) -> "ChunkRef":
        """Read ``{document}:{generation}:{ordinal}``. Raises ValueError for anything else."""
        document, generation, ordinal = text.split(":")
        ref = cls(DocumentId(UUID(document)), int(generation), int(ordinal))
        if str(ref) != text or min(ref.generation, ref.ordinal) < 0:  # int() also reads spaces, signs and other digits
            raise ValueError("a chunk's id must read {document}:{generation}:{ordinal}")
        return ref


@dataclass(frozen=True, slots=True)
class ObjectKey:
    """Where a document lies in the bucket: ``{user_id}/{bot_id}/{path}``; path may hold further slashes."""

    user_id: UserId
    bot_id: BotId
    path: str

    def __str__(self) -> str:
        return f"{self.user_id}/{self.bot_id}/{self.path}"

    @property
    def filename(self) -> str:
        return self.path.rsplit("/", 1)[-1]

    @classmethod
    def parse(cls, key: str) -> "ObjectKey":
        """Read a decoded object key. Raises ValueError when it does not name a tenant, a bot and a path."""
        user, _, rest = key.partition("/")
        bot, _, path = rest.partition("/")
        if not path or path.endswith("/"):
            raise ValueError("an object key must read {user_id}/{bot_id}/{path}")
        parsed = cls(UserId(UUID(user)), BotId(UUID(bot)), path)
        if str(parsed) != key:  # UUID() also reads braces, urn:uuid: and upper case: one spelling, one document
            raise ValueError("ids in an object key are lower-case UUIDs with dashes")
        return parsed
