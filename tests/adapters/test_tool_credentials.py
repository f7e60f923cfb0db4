"""OAuth client credentials: a token is fetched, kept, renewed, and sent to its server alone."""

from base64 import b64decode
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import pytest
from tests.fakes.tool_servers import ToolServer, tool_server

from botforge.adapters.tools.credentials import AuthorisedExchanges, CredentialHeaders
from botforge.adapters.tools.egress import EgressGuard
from botforge.adapters.tools.exchanges import Exchanges
from botforge.adapters.tools.rest import RestTransport
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, ToolServerError
from botforge.domain.tool import Credential, CredentialKind, Dialect, ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall
from botforge_dev.fakes.loopback import Answer, Hang, Request, Respond, serve

_SECRET = "s3cret/+"


@dataclass(slots=True)
class TokenServer:
    url: str = ""
    requests: list[Request] = field(default_factory=list[Request])
    answers: list[Answer] = field(default_factory=list[Answer])  # before the honest ones
    life: object = 3600

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if self.answers:
            return self.answers.pop(0)
        number = len(self.requests)
        return Respond(200, {"access_token": f"token-{number}", "token_type": "Bearer", "expires_in": self.life})


@contextmanager
def token_server() -> Generator[TokenServer]:
    server = TokenServer()
    with serve(server.answer) as origin:
        server.url = origin + "/token"
        yield server


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class World:
    tools: ToolServer
    tokens: TokenServer
    clock: Clock
    credentials: CredentialHeaders
    transport: RestTransport

    def endpoint(self, url: str | None = None, *, secret: str = _SECRET, scope: str | None = "act") -> Endpoint:
        credential = Credential(CredentialKind.OAUTH, secret, token_url=self.tokens.url, client_id="bot:1", scope=scope)
        return Endpoint(url or self.tools.url, ToolProtocol.REST, Dialect.REST, credential)

    def call(self, endpoint: Endpoint | None = None, *, seconds: float = 30) -> None:
        call = ToolCall("pay", {"amount": 1}, {}, None)
        self.transport.call(endpoint or self.endpoint(), call, deadline=Deadline.after(seconds))

    def sent(self) -> list[str | None]:
        return [request.headers.get("authorization") for request in self.tools.requests]


@pytest.fixture
def world() -> Generator[World]:
    clock = Clock()
    exchanges = Exchanges(EgressGuard(allow_loopback=True))
    credentials = CredentialHeaders(exchanges, monotonic=clock)
    transport = RestTransport(AuthorisedExchanges(exchanges, credentials))
    with tool_server("/base") as tools, token_server() as tokens:
        yield World(tools, tokens, clock, credentials, transport)


def test_the_token_is_asked_for_as_the_specifications_say_and_sent_as_a_bearer(world: World) -> None:
    world.call()

    (asked,) = world.tokens.requests
    assert asked.method == "POST"
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert parse_qs(asked.body.decode()) == {
        "grant_type": ["client_credentials"],
        "scope": ["act"],
        "resource": [world.tools.url],  # RFC 8707
    }
    scheme, _, encoded = asked.headers["authorization"].partition(" ")
    assert (scheme, b64decode(encoded)) == ("Basic", b"bot%3A1:s3cret%2F%2B")  # RFC 6749, section 2.3.1
    assert b"s3cret" not in asked.body
    assert world.sent() == ["Bearer token-1"]


def test_a_token_is_kept_until_shortly_before_it_expires(world: World) -> None:
    world.call()
    world.clock.now += 3600 - 61
    world.call()
    assert len(world.tokens.requests) == 1

    world.clock.now += 2
    world.call()
    assert world.sent() == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


def test_a_token_of_a_short_life_is_used_for_half_of_it(world: World) -> None:
    world.tokens.life = 30
    world.call()
    world.clock.now += 14
    world.call()
    world.clock.now += 2
    world.call()

    assert len(world.tokens.requests) == 2


@pytest.mark.parametrize("life", [None, "soon", 0, -5])
def test_a_token_without_a_known_life_is_kept_for_some_minutes(world: World, life: object) -> None:
    world.tokens.life = life
    world.call()
    world.clock.now += 200
    world.call()
    world.clock.now += 200
    world.call()

    assert len(world.tokens.requests) == 2


def test_another_server_secret_or_scope_gets_a_token_of_its_own(world: World) -> None:
    with tool_server("/base") as other:
        world.call()
        world.call(world.endpoint(other.url))
        world.call(world.endpoint(secret="another"))
        world.call(world.endpoint(scope=None))

        resources = [parse_qs(request.body.decode())["resource"][0] for request in world.tokens.requests]
        assert resources == [world.tools.url, other.url, world.tools.url, world.tools.url]
        assert [request.headers["authorization"] for request in other.requests] == ["Bearer token-2"]


def test_a_token_that_the_server_refuses_is_not_used_again(world: World) -> None:
    world.tools.required_headers["Authorization"] = "Bearer token-2"
    with pytest.raises(ToolServerError) as raised:
        world.call()
    assert (raised.value.code, raised.value.delivery) == ("tool_server_unauthorized", Delivery.ANSWERED)

    world.call()

    assert world.sent() == ["Bearer token-1", "Bearer token-2"]


@pytest.mark.parametrize(
    "answer",
    [
        Respond(400, {"error": "invalid_client"}),
        Respond(401, {"error": "invalid_client"}),
        Respond(200, {"access_token": 7}),
        Respond(200, {}),
        Respond(200, []),
        Respond(200, b"token"),
        Respond(200, {"access_token": "x", "token_type": "mac"}),
        Respond(200, {"access_token": "two\r\nX-Injected: yes", "token_type": "Bearer"}),
        Respond(307, b"", {"Location": "http://127.0.0.1:1/"}),
        Respond(500),
    ],
)
def test_without_a_token_nothing_is_sent(world: World, answer: Answer) -> None:
    world.tokens.answers.append(answer)

    with pytest.raises(ToolServerError) as raised:
        world.call()

    assert raised.value.delivery is Delivery.NOT_SENT
    assert "s3cret" not in str(raised.value)
    assert world.tools.requests == []
    world.call()  # and the failure is not kept


def test_a_token_endpoint_that_hangs_ends_at_the_deadline(world: World) -> None:
    world.tokens.answers.append(Hang())

    with pytest.raises(ToolServerError) as raised:
        world.call(seconds=1)

    assert (raised.value.code, raised.value.delivery) == ("tool_server_timeout", Delivery.NOT_SENT)
    assert world.tools.requests == []


def test_the_secret_is_neither_held_nor_printed(world: World) -> None:
    world.call()

    assert "token-1" in repr(vars(world.credentials))
    assert "s3cret" not in repr(vars(world.credentials))
    assert "s3cret" not in repr(world.endpoint())
