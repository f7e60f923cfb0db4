"""POST /vector/query and GET /vector/stats: retrieval and answers."""

from botforge.adapters.clock import SystemClock
from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.queries import PostgresQueries
from botforge.adapters.storage.links import S3Links
from botforge.http.gateway import Handler
from botforge.http.routes.queries import queries_router
from botforge.services.answering import Answerer
from botforge.services.extractive import ExtractiveAnswerer
from botforge.services.grounding import GroundingCheck
from botforge.services.query import QueryService
from botforge.services.query_log import QueryLog
from botforge.services.retrieval import Retriever
from botforge.services.statistics import StatisticsService
from botforge.settings import QuerySettings, load
from botforge.telemetry import record_query
from botforge.wiring.chat import chat_model
from botforge.wiring.database import connect
from botforge.wiring.embedding import cached, embedding_model
from botforge.wiring.vectors import vector_index
from botforge.wiring.web import request_deadline, web_handler


def build() -> Handler:
    settings = load(QuerySettings)
    database = connect(settings)
    clock = SystemClock()
    bots, queries = PostgresBots(database), PostgresQueries(database)
    model = embedding_model(settings)
    embedder = cached(model, settings)
    service = QueryService(
        log=QueryLog(bots, queries),
        retriever=Retriever(embedder, vector_index(settings, database), PostgresChunks(database)),
        # Sentences of passages do not come up again: they would only push questions out of the cache.
        answerer=Answerer(chat_model(settings), ExtractiveAnswerer(model), GroundingCheck(model)),
        links=S3Links(settings.bucket),
        clock=clock,
    )
    router = queries_router(
        service,
        StatisticsService(bots, queries, clock),
        deadline=request_deadline(settings),
        models=settings.openai_allowed_models | {settings.openai_model},
        on_result=lambda result: record_query(result.record),
    )
    return web_handler([router], settings)
