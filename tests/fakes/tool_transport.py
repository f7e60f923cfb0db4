"""A transport whose servers say what a test has them say."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, EgressRefused, ToolServerError
from botforge.domain.tool import Dialect, Discovery, ToolDefinition, ToolResult
from botforge.ports.tools import Endpoint, ToolCall

Answer = Discovery | Exception | Callable[[Endpoint, Deadline], Discovery]


def discovery(*tools: ToolDefinition, dialect: Dialect = Dialect.REST, notes: tuple[str, ...] = ()) -> Discovery:
    return Discovery(dialect, "fake", "1", tools, notes)


def unreachable() -> ToolServerError:
    return ToolServerError("It cannot be reached.", delivery=Delivery.NOT_SENT, code="tool_server_unreachable")


@dataclass(slots=True)
class DiscoverableServers:
    """``answers`` by URL; any other address is refused, as the egress guard would."""

    answers: dict[str, Answer] = field(default_factory=dict[str, Answer])
    seen: list[Endpoint] = field(default_factory=list[Endpoint])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def discover(self, endpoint: Endpoint, *, deadline: Deadline) -> Discovery:
        with self._lock:
            self.seen.append(endpoint)
        answer = self.answers.get(endpoint.url)
        if answer is None:
            raise EgressRefused("This address is refused.")
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Discovery) else answer(endpoint, deadline)

    def call(self, endpoint: Endpoint, call: ToolCall, *, deadline: Deadline) -> ToolResult:
        raise AssertionError(f"nobody calls {call.tool_name} here, at {endpoint.url} within {deadline.remaining()} s")
