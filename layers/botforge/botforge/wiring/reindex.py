"""scripts/reindex: no function, but made of the same parts."""

from collections.abc import Iterator

from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.maintenance import PostgresMaintenance
from botforge.adapters.postgres.vector_space import PostgresVectorSpace
from botforge.domain.ids import BotId
from botforge.services.reindexing import ReindexingService
from botforge.settings import DatabaseSettings, EmbeddingSettings, VectorSettings, load
from botforge.wiring.database import WORKER_MS, connect
from botforge.wiring.embedding import embedding_model
from botforge.wiring.vectors import vector_index


class ReindexSettings(DatabaseSettings, VectorSettings, EmbeddingSettings):
    pass


def reindex(bot_id: BotId | None) -> Iterator[tuple[BotId, int]]:
    """As ReindexingService.rebuild; needs the worker's database, or the owner's."""
    settings = load(ReindexSettings)
    database = connect(settings, statement_timeout_ms=WORKER_MS)
    space = PostgresVectorSpace(database)
    service = ReindexingService(
        PostgresChunks(database),
        embedding_model(settings),
        vector_index(settings, database),
        space,
        space,
        PostgresMaintenance(database).bots,
    )
    try:
        yield from service.rebuild(bot_id)
    finally:
        database.close()
