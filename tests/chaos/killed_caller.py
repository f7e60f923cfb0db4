"""A process that makes one tool call and gets SIGKILL at a named step: DSN USER BOT STEP.

At ``during call`` it waits for its answer, and whoever started it kills it.
"""

import os
import signal
import sys
from typing import Any
from uuid import UUID, uuid4

from botforge.adapters.clock import SystemClock
from botforge.adapters.postgres.database import Database
from botforge.adapters.postgres.executions import PostgresExecutions
from botforge.adapters.postgres.tool_servers import PostgresToolServers
from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.domain.deadline import Deadline
from botforge.domain.ids import BotId, ExecutionId, UserId
from botforge.services.tool_execution import ToolExecutor
from botforge.services.tool_results import ResultCache

dsn, user, bot, step = sys.argv[1:]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Mortal:
    """Any port; dies before or after the call that ``step`` names."""

    def __init__(self, port: object) -> None:
        self._port = port

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        method = getattr(self._port, name)

        def call(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401
            if step == f"before {name}":
                die()
            result = method(*arguments, **named)
            if step == f"after {name}":
                die()
            return result

        return call


def mortal(port: object) -> Any:  # noqa: ANN401 - stands in for any port
    return _Mortal(port)


database = Database(dsn)
owner = UserId(UUID(user))
((target, _),) = PostgresToolServers(database).nearest(owner, BotId(UUID(bot)), [1.0, *[0.0] * 383], limit=1)
executor = ToolExecutor(
    executions=mortal(PostgresExecutions(database)),
    transport=mortal(ByProtocolTransport(allow_loopback=True)),
    open_credential=lambda _: None,
    cache=ResultCache(None),
    clock=SystemClock(),
    pause=lambda _: None,
    on_unforeseen=lambda error: sys.exit(repr(error)),
)
executor.execute(
    owner,
    target,
    {"amount": 1},
    execution_id=ExecutionId(uuid4()),
    query_id=None,
    deadline=Deadline.after(25),
)
