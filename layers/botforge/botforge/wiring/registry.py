"""/api/bots and /api/mcp."""

from botforge.adapters.clock import SystemClock
from botforge.adapters.postgres.bots import PostgresBots
from botforge.adapters.postgres.executions import PostgresExecutions
from botforge.adapters.postgres.routing_examples import PostgresRoutingExamples
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.adapters.postgres.vector_space import PostgresVectorSpace
from botforge.http.gateway import Handler
from botforge.http.routes.bots import bots_router
from botforge.http.routes.routing_examples import routing_examples_router
from botforge.http.routes.tool_servers import tool_servers_router
from botforge.http.routes.tools import tools_router
from botforge.services.bots import BotService
from botforge.services.registration import RegistrationService
from botforge.services.routing_examples import RoutingExampleService
from botforge.services.same_space import SameSpaceEmbedder
from botforge.services.tool_catalogue import ToolCatalogue
from botforge.services.tool_credentials import ToolCredentials
from botforge.settings import RegistrySettings, load
from botforge.wiring.database import connect
from botforge.wiring.embedding import embedding_model
from botforge.wiring.tools import LazyEmbedder, transport, vault
from botforge.wiring.web import request_deadline, web_handler


def build() -> Handler:
    settings = load(RegistrySettings)
    database, clock = connect(settings), SystemClock()
    bots, servers = PostgresBots(database), PostgresToolServers(database)
    embedder = SameSpaceEmbedder(LazyEmbedder(lambda: embedding_model(settings)), PostgresVectorSpace(database))
    registration = RegistrationService(
        bots=bots,
        servers=servers,
        transport=transport(settings),
        credentials=ToolCredentials(vault(settings)),
        embedder=embedder,
        clock=clock,
    )
    catalogue = ToolCatalogue(bots, servers, PostgresExecutions(database), embedder)
    routers = [
        bots_router(BotService(bots, clock)),
        tool_servers_router(registration, deadline=request_deadline(settings)),
        tools_router(catalogue),
        routing_examples_router(RoutingExampleService(bots, PostgresRoutingExamples(database), embedder, clock)),
    ]
    return web_handler(routers, settings)
