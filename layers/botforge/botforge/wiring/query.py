"""/vector: answers from documents, action through tools, statistics."""

from botforge.adapters.clock import SystemClock
from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.chunks import PostgresChunks
from botforge.adapters.postgres.conversations import PostgresConversations
from botforge.adapters.postgres.queries import PostgresQueries
from botforge.adapters.postgres.routing_examples import PostgresRoutingExamples
from botforge.adapters.postgres.routing_tools import PostgresRoutingTools
from botforge.adapters.postgres.vector_space import PostgresVectorSpace
from botforge.adapters.routing.head import RoutingHead
from botforge.adapters.storage.links import S3Links
from botforge.http.gateway import Handler
from botforge.http.routes.agent import agent_router
from botforge.http.routes.conversations import conversations_router
from botforge.http.routes.dynamic import dynamic_router
from botforge.http.routes.queries import queries_router
from botforge.services.agent_query import AgentResult
from botforge.services.answering import Answerer
from botforge.services.conversations import ConversationService
from botforge.services.dialogue import Dialogue
from botforge.services.dynamic import DynamicQueryService, DynamicResult
from botforge.services.extractive import ExtractiveAnswerer
from botforge.services.grounding import GroundingCheck
from botforge.services.query import QueryService
from botforge.services.query_log import QueryLog
from botforge.services.question_search import QuestionSearch
from botforge.services.retrieval import Retriever
from botforge.services.routing import Router
from botforge.services.same_space import SameSpaceEmbedder
from botforge.services.source_links import SourceLinks
from botforge.services.statistics import StatisticsService
from botforge.settings import QuerySettings, load
from botforge.telemetry import record_query, record_tool_uses
from botforge.wiring.agent import agent_service
from botforge.wiring.chat import chat_model
from botforge.wiring.database import connect
from botforge.wiring.embedding import cache_of, cached, embedding_model
from botforge.wiring.reranking import reranking
from botforge.wiring.vectors import vector_index
from botforge.wiring.web import request_deadline, web_handler


def build() -> Handler:
    settings = load(QuerySettings)
    database = connect(settings)
    clock = SystemClock()
    bots, queries = PostgresBots(database), PostgresQueries(database)
    model = embedding_model(settings)
    cache = cache_of(settings)
    embedder = SameSpaceEmbedder(cached(model, cache), PostgresVectorSpace(database))
    log, chat = QueryLog(bots, queries), chat_model(settings)
    conversations = PostgresConversations(database)
    dialogue = Dialogue(conversations, chat)
    reranked = reranking(settings)
    retriever = Retriever(embedder, vector_index(settings, database), PostgresChunks(database), reranked)
    links = SourceLinks(S3Links(settings.bucket))
    # Sentences of passages do not come up again: they would only push questions out of the cache.
    extractive, grounding = ExtractiveAnswerer(model), GroundingCheck(model)
    service = QueryService(
        log=log,
        dialogue=dialogue,
        search=QuestionSearch(retriever, chat),
        answerer=Answerer(chat, extractive, grounding),
        links=links,
        clock=clock,
    )
    acting = agent_service(
        settings, database=database, log=log, dialogue=dialogue, chat=chat, embedder=embedder, cache=cache, clock=clock
    )
    dynamic = DynamicQueryService(
        log=log,
        dialogue=dialogue,
        router=Router(embedder, PostgresRoutingTools(database), PostgresRoutingExamples(database), RoutingHead()),
        retriever=retriever,
        answers=service,
        agent=acting,
        grounding=grounding,
        links=links,
        agent_decides=chat is not None,
        clock=clock,
    )
    deadline, models = request_deadline(settings), settings.openai_allowed_models | {settings.openai_model}
    routers = [
        queries_router(
            service,
            StatisticsService(bots, queries, clock),
            deadline=deadline,
            models=models,
            on_result=lambda result: record_query(result.record),
        ),
        dynamic_router(dynamic, deadline=deadline, models=models, on_result=_record_dynamic),
        agent_router(acting, deadline=deadline, models=models, on_result=_record_agent),
        conversations_router(ConversationService(bots, conversations)),
    ]
    return web_handler(routers, settings)


def _record_agent(result: AgentResult) -> None:
    record_query(result.record)
    record_tool_uses(result.answer.tools_used)


def _record_dynamic(result: DynamicResult) -> None:
    record_query(result.record)
    if result.acted is not None:
        record_tool_uses(result.acted.answer.tools_used)
