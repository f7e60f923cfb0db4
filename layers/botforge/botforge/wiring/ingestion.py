"""S3 → SQS → here: documents become chunks that answers may quote."""

from collections.abc import Callable
from typing import Any

from botforge.adapters.clock import SystemClock
from botforge.adapters.extract.isolated import IsolatedExtractor
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.documents import PostgresDocuments
from botforge.adapters.postgres.vector_space import PostgresVectorSpace
from botforge.adapters.queue.sqs import SqsRetries, pause_after
from botforge.adapters.storage.s3 import S3ObjectStore
from botforge.events.s3 import object_events
from botforge.events.sqs import Message, handle_batch
from botforge.services.ingestion import IngestionService
from botforge.services.same_space import SameSpaceEmbedder
from botforge.settings import IngestionSettings, load
from botforge.telemetry import instrumented, log_failed_message, record_ingestion
from botforge.wiring.database import WORKER_MS, connect
from botforge.wiring.embedding import embedding_model
from botforge.wiring.vectors import vector_index


def build() -> Callable[[Any, Any], dict[str, Any]]:
    settings = load(IngestionSettings)
    database = connect(settings, statement_timeout_ms=WORKER_MS)
    model = embedding_model(settings)
    service = IngestionService(
        documents=PostgresDocuments(database),
        chunks=PostgresChunks(database),
        vectors=vector_index(settings, database),
        objects=S3ObjectStore(settings.bucket),
        extractor=IsolatedExtractor(),
        embedder=SameSpaceEmbedder(model, PostgresVectorSpace(database)),
        tokenizer=model,
        clock=SystemClock(),
    )

    def handle(message: Message) -> None:
        for event in object_events(message.body):
            result = service.handle(event, last_attempt=message.receive_count >= settings.max_receive_count)
            record_ingestion(result)

    def failed(message: Message, error: Exception) -> None:
        log_failed_message(message, error)
        if settings.queue_url is not None:
            SqsRetries(settings.queue_url).again_after(message.receipt_handle, pause_after(message.receive_count))

    def handler(event: Any, _context: Any) -> dict[str, Any]:  # noqa: ANN401 - Lambda's
        return dict(handle_batch(event, handle, failed))

    return instrumented(handler)
