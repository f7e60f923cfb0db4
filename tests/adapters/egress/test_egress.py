"""What the egress guard lets through, and where connections really go."""

import socket

import pytest
from tests.fakes.dialling import PUBLIC, Dial, Names, always, failing

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.adapters.tools.egress import EgressGuard
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, EgressRefused, ToolServerError
from botforge.domain.tool import Credential, CredentialKind, Dialect, ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall

PAY = ToolCall("pay", {"amount": 1}, {}, None)


_public = always(PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c")


@pytest.mark.parametrize(
    ("url", "called"),
    [
        ("https://tools.example.com", "https://tools.example.com/"),
        ("https://tools.example.com/mcp", "https://tools.example.com/mcp"),
        ("HTTPS://Tools.Example.COM/MCP", "https://tools.example.com/MCP"),
        ("https://tools.example.com./mcp", "https://tools.example.com/mcp"),
        ("https://tools.example.com:443/mcp", "https://tools.example.com/mcp"),
        ("https://tools.example.com:8443/a/b/", "https://tools.example.com:8443/a/b/"),
        ("https://tools.example.com/mcp?tenant=1&x=%20y", "https://tools.example.com/mcp?tenant=1&x=%20y"),
        ("https://tools.example.com?x=1", "https://tools.example.com/?x=1"),
        ("https://bücher.example/mcp", "https://xn--bcher-kva.example/mcp"),
        ("https://BÜCHER.example./mcp", "https://xn--bcher-kva.example/mcp"),
        ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
        ("https://例え.テスト/mcp", "https://xn--r8jz45g.xn--zckzah/mcp"),
        ("https://8.8.8.8/mcp", "https://8.8.8.8/mcp"),
        ("https://[2606:4700:4700:0::1111]:8443/mcp", "https://[2606:4700:4700::1111]:8443/mcp"),
        ("https://1.tools.example/", "https://1.tools.example/"),
        ("https://a-b--c.example/~x/@y/:z;p=1,2", "https://a-b--c.example/~x/@y/:z;p=1,2"),
    ],
)
def test_a_public_https_url_is_vetted_and_has_one_form(url: str, called: str) -> None:
    vetted = EgressGuard(resolve=_public).vet(url)

    assert str(vetted.url) == called
    assert str(vetted.addresses[0]) in (PUBLIC, vetted.url.host)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/mcp",
        "https://127.0.0.1/mcp",
        "http://127.8.9.1:81/",
        "http://[::1]:8000/",
        "http://localhost:8000/",
        "http://localhost.:8000/",
        "http://tools.localhost:8000/",
    ],
)
def test_loopback_is_vetted_only_where_it_is_allowed(url: str) -> None:
    loopback = always("127.0.0.1", "::1")
    EgressGuard(allow_loopback=True, resolve=loopback).check(url)
    with pytest.raises(EgressRefused):
        EgressGuard(resolve=loopback).check(url)


@pytest.mark.parametrize(
    "url", ["http://tools.example.com/", "http://10.0.0.1/", "https://10.0.0.1/", "https://169.254.169.254/"]
)
def test_allowing_loopback_allows_nothing_else(url: str) -> None:
    with pytest.raises(EgressRefused):
        EgressGuard(allow_loopback=True, resolve=_public).check(url)


def test_a_name_that_is_loopback_and_public_at_once_is_refused() -> None:
    guard = EgressGuard(allow_loopback=True, resolve=always("127.0.0.1", PUBLIC))

    with pytest.raises(EgressRefused):
        guard.check("https://tools.example.com/")


def test_the_real_resolver_answers_for_loopback() -> None:
    assert EgressGuard(allow_loopback=True).vet("http://localhost:8000/").addresses


@pytest.mark.parametrize("code", [socket.EAI_NONAME, socket.EAI_NODATA])
def test_an_unknown_name_is_refused(code: int) -> None:
    with pytest.raises(EgressRefused):
        EgressGuard(resolve=failing(socket.gaierror(code, "unknown"))).check("https://tools.example.com/")


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_AGAIN, "later"), OSError("no network")])
def test_a_resolver_that_does_not_answer_is_no_verdict(error: OSError) -> None:
    with pytest.raises(ToolServerError) as raised:
        EgressGuard(resolve=failing(error)).check("https://tools.example.com/")

    assert (raised.value.code, raised.value.delivery) == ("tool_server_unreachable", Delivery.NOT_SENT)


def test_a_name_without_an_address_is_refused() -> None:
    with pytest.raises(EgressRefused):
        EgressGuard(resolve=always()).check("https://tools.example.com/")


@pytest.mark.parametrize("dialect", list(Dialect))
def test_one_call_looks_a_name_up_once_and_dials_what_was_vetted(dialect: Dialect) -> None:
    names = Names({"tools.example.com": [[PUBLIC], ["127.0.0.1"]]})
    dial = Dial(0, refusing=frozenset({PUBLIC}))
    transport = ByProtocolTransport(resolve=names, dial=dial)

    with pytest.raises(ToolServerError) as raised:
        transport.call(
            Endpoint("https://tools.example.com/x", ToolProtocol.AUTO, dialect), PAY, deadline=Deadline.after(30)
        )

    assert raised.value.code == "tool_server_unreachable"
    assert names.asked == ["tools.example.com"]
    assert dial.dialled == [(PUBLIC, 443)]


def test_every_vetted_address_is_tried_in_turn() -> None:
    addresses = [PUBLIC, "93.184.215.15", "2606:2800::1"]
    dial = Dial(0, refusing=frozenset(addresses))
    transport = ByProtocolTransport(resolve=always(*addresses), dial=dial)

    with pytest.raises(ToolServerError):
        transport.call(
            Endpoint("https://tools.example.com/x", ToolProtocol.REST, None), PAY, deadline=Deadline.after(30)
        )

    assert [host for host, _ in dial.dialled] == addresses


def test_the_error_for_a_registrar_names_the_field_and_what_to_do() -> None:
    with pytest.raises(EgressRefused) as raised:
        EgressGuard(resolve=always("10.0.0.1")).check("https://tools.example.com/")

    assert raised.value.field == "endpoint_url"
    assert raised.value.next_step
    assert "10.0.0.1" not in raised.value.message  # what an inner name resolves to is not for strangers


def test_a_refused_token_endpoint_is_told_apart_from_a_refused_server() -> None:
    credential = Credential(CredentialKind.OAUTH, "s3cret", token_url="https://10.0.0.1/token", client_id="bot")
    endpoint = Endpoint("https://tools.example.com/", ToolProtocol.REST, None, credential)

    with pytest.raises(EgressRefused) as raised:
        ByProtocolTransport(resolve=_public).discover(endpoint, deadline=Deadline.after(30))

    assert raised.value.field == "token_url"
