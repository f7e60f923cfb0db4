"""From the body of a question to the question."""

from uuid import uuid4

from botforge.domain.errors import InvalidRequest
from botforge.domain.ids import BotId, ConversationId, DocumentId, UserId
from botforge.domain.query import Query
from botforge.http.principal import must_be
from botforge.http.schemas.queries import QueryRequest


def asked(body: QueryRequest, user: UserId, models: frozenset[str]) -> Query:
    """Raises NotFound if the body names another user, InvalidRequest if it names a model that is not in ``models``."""
    must_be(body.user_id, user)
    if body.model is not None and body.model not in models:
        raise InvalidRequest(
            "This model is not offered.",
            code="unknown_model",
            field="model",
            next_step="Leave it out, or ask the operator to add it to OPENAI_ALLOWED_MODELS.",
        )
    return Query(
        id=uuid4(),
        user_id=user,
        bot_id=BotId(body.bot_id),
        client_id=body.client_id,
        text=body.query,
        model=body.model,
        max_chunks=body.max_chunks,
        similarity_threshold=body.similarity_threshold,
        document_ids=tuple(map(DocumentId, body.document_ids)),
        conversation_id=None if body.conversation_id is None else ConversationId(body.conversation_id),
    )
