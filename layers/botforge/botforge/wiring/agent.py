"""The agent: the bot's tools, whatever reaches them, and who decides what to call."""

import time

from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.executions import PostgresExecutions
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.ports.cache import Cache
from botforge.ports.chat import ChatModel
from botforge.ports.clock import Clock
from botforge.ports.embedding import Embedder
from botforge.services.agent import Agent
from botforge.services.agent_query import Acting, AgentQueryService
from botforge.services.dialogue import Dialogue
from botforge.services.query_log import QueryLog
from botforge.services.single_step import SingleStep
from botforge.services.tool_credentials import ToolCredentials
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_results import ResultCache
from botforge.services.tool_selection import ToolSelector
from botforge.settings import ToolSettings
from botforge.telemetry import log_unforeseen
from botforge.wiring.tools import argument_checker, transport, vault


def agent_service(
    settings: ToolSettings,
    *,
    database: Database,
    log: QueryLog,
    dialogue: Dialogue,
    chat: ChatModel | None,
    embedder: Embedder,
    cache: Cache,
    clock: Clock,
) -> AgentQueryService:
    servers = PostgresToolServers(database)
    selector = ToolSelector(embedder, servers)
    executor = ToolExecutor(
        executions=PostgresExecutions(database),
        transport=transport(settings),
        open_credential=ToolCredentials(vault(settings)).open,
        cache=ResultCache(cache),
        clock=clock,
        pause=time.sleep,
        on_unforeseen=log_unforeseen,
    )
    agent: Acting | None = None
    if chat is not None:
        agent = Agent(chat, selector, servers, executor, argument_checker(), log_unforeseen)
    elif settings.egress_allow_loopback:  # a development stack: nothing beyond this machine is called unasked
        agent = SingleStep(selector, servers, executor, argument_checker(), log_unforeseen)
    return AgentQueryService(log, dialogue, agent, clock)
