"""One exchange: its deadline covers everything, and an answer that is there is not lost to what comes after it."""

import asyncio
import threading
import time
from collections.abc import Sequence

import pytest
from tests.fakes.dialling import PUBLIC
from tests.fakes.tool_servers import Effect, tool_server

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.adapters.tools.egress import EgressGuard
from botforge.adapters.tools.exchanges import Exchange, Exchanges, Work
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import Dialect, ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall

PAY = ToolCall("pay", {"amount": 1}, {}, None)


def test_a_resolver_that_hangs_ends_at_the_deadline_and_nothing_is_sent_later() -> None:
    release, resolved = threading.Event(), threading.Event()

    with tool_server() as server:

        def slow(host: str, port: int) -> Sequence[str]:
            del host, port
            release.wait()
            resolved.set()
            return ["127.0.0.1"]

        transport = ByProtocolTransport(allow_loopback=True, resolve=slow)
        url = server.url.replace("127.0.0.1", "tools.localhost")
        began = time.monotonic()
        with pytest.raises(ToolServerError) as raised:
            transport.call(Endpoint(url, ToolProtocol.REST, Dialect.REST), PAY, deadline=Deadline.after(0.3))
        assert time.monotonic() - began < 10
        assert (raised.value.code, raised.value.delivery) == ("tool_server_timeout", Delivery.NOT_SENT)

        release.set()
        assert resolved.wait(10)
        for thread in threading.enumerate():
            if thread.name == "tool-exchange":
                thread.join(10)
        assert server.effects == list[Effect]()
        assert server.requests == []


def test_an_answer_survives_a_failure_after_it() -> None:
    async def work(exchange: Exchange[str]) -> None:
        exchange.answer("there")
        raise OSError("the farewell failed")

    exchanges = Exchanges(EgressGuard(allow_loopback=True))

    assert exchanges.run("http://127.0.0.1:1/", work, headers={}, deadline=Deadline.after(30)) == "there"


def test_an_answer_survives_a_farewell_that_hangs() -> None:
    async def work(exchange: Exchange[str]) -> None:
        exchange.answer("there")
        await asyncio.sleep(3600)

    exchanges = Exchanges(EgressGuard(allow_loopback=True))

    assert exchanges.run("http://127.0.0.1:1/", work, headers={}, deadline=Deadline.after(0.3)) == "there"


@pytest.mark.parametrize(
    "error", [KeyError("x"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), LookupError("charset")]
)
def test_whatever_a_strangers_bytes_raise_is_an_error_of_ours(error: Exception) -> None:
    async def work(exchange: Exchange[str]) -> None:
        del exchange
        raise ExceptionGroup("of a task group", [error, RuntimeError("and another")])

    with pytest.raises(ToolServerError) as raised:
        Exchanges(EgressGuard(allow_loopback=True)).run(
            "http://127.0.0.1:1/", work, headers={}, deadline=Deadline.after(30)
        )

    assert raised.value.code == "tool_server_invalid_response"
    assert raised.value.__cause__ is not None


def test_the_client_of_an_exchange_reaches_no_other_host_or_port() -> None:
    def getting(url: str) -> Work[str]:
        async def work(exchange: Exchange[str]) -> None:
            exchange.attempt.begin("GET")
            await exchange.http.get(url)

        return work

    with tool_server() as server, tool_server() as neighbour:
        exchanges = Exchanges(EgressGuard(allow_loopback=True))
        for other in (neighbour.url + "/tools", f"https://{PUBLIC}/", server.url.replace("127.0.0.1", "localhost")):
            with pytest.raises(ToolServerError) as raised:
                exchanges.run(server.url, getting(other), headers={}, deadline=Deadline.after(30))
            assert (raised.value.code, raised.value.delivery) == ("tool_server_unreachable", Delivery.NOT_SENT)
        assert neighbour.requests == server.requests == []


def test_many_exchanges_run_at_once_and_leave_no_thread_behind() -> None:
    transport = ByProtocolTransport(allow_loopback=True)
    with tool_server() as server:
        endpoint = Endpoint(server.url, ToolProtocol.REST, Dialect.REST)
        threads = [
            threading.Thread(target=lambda: transport.call(endpoint, PAY, deadline=Deadline.after(60)))
            for _ in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(server.effects) == 40

    for thread in threading.enumerate():
        if thread.name == "tool-exchange":
            thread.join(10)
            assert not thread.is_alive()
