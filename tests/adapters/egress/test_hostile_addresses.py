"""Every hostile address is refused: when it is registered, when it is called, and when a name turns to it later.

Whatever is dialled ends at a canary on loopback, which counts hits: there are none.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.fakes.dialling import PUBLIC, Canary, Dial, always, canary

from botforge.adapters.tools.by_protocol import ByProtocolTransport
from botforge.adapters.tools.egress import EgressGuard
from botforge.domain.deadline import Deadline
from botforge.domain.errors import EgressRefused, ToolServerError
from botforge.domain.tool import Credential, CredentialKind, Dialect, ToolProtocol
from botforge.ports.tools import Endpoint, ToolCall

GOOD = "https://tools.example.com/mcp"


@dataclass(frozen=True, slots=True)
class Form:
    kind: str  # url, name or address
    form: str
    why: str
    resolves_to: str | None = None


def _corpus() -> list[Form]:
    lines = (Path(__file__).parent / "hostile.jsonl").read_text().splitlines()
    return [Form(**json.loads(line)) for line in lines[1:]]


CORPUS = _corpus()
URLS = [form for form in CORPUS if form.kind == "url"]
NAMES = [form for form in CORPUS if form.kind == "name"]
ADDRESSES = [form for form in CORPUS if form.kind == "address"]


def _cases(forms: list[Form]) -> list[object]:
    return [pytest.param(form, id=f"{number}: {form.why}") for number, form in enumerate(forms)]


class Watched:
    """A transport whose resolver is the attacker's, and whose connections all end at the canary."""

    def __init__(self, listener: Canary) -> None:
        self.answers: list[Sequence[str]] = [[PUBLIC]]
        self.listener = listener
        self.dial = Dial(listener.port)
        self.guard = EgressGuard(resolve=self._resolve)
        self.transport = ByProtocolTransport(resolve=self._resolve, dial=self.dial)

    def _resolve(self, host: str, port: int) -> Sequence[str]:
        del host, port
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def refuses_to_call(self, url: str, credential: Credential | None = None) -> None:
        """In every protocol, and while it is being found out."""
        for dialect in Dialect:
            with pytest.raises(EgressRefused):
                self.call(url, dialect, credential)
        with pytest.raises(EgressRefused):
            self.transport.discover(Endpoint(url, ToolProtocol.AUTO, None, credential), deadline=Deadline.after(30))

    def call(self, url: str, dialect: Dialect = Dialect.REST, credential: Credential | None = None) -> None:
        endpoint = Endpoint(url, ToolProtocol.AUTO, dialect, credential)
        self.transport.call(endpoint, ToolCall("pay", {}, {}, None), deadline=Deadline.after(30))


@pytest.fixture(scope="module")
def listener() -> Iterator[Canary]:
    with canary() as state:
        yield state


@pytest.fixture
def watched(listener: Canary) -> Iterator[Watched]:
    before = listener.hits
    watched = Watched(listener)
    yield watched
    assert watched.dial.dialled == []
    assert listener.hits == before


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(CORPUS) >= 500
    assert len({(form.kind, form.form) for form in CORPUS}) == len(CORPUS)


def test_the_canary_counts_what_reaches_it(listener: Canary) -> None:
    watched = Watched(listener)
    before = listener.hits

    with pytest.raises(ToolServerError):
        watched.call(GOOD)

    assert watched.dial.dialled == [(PUBLIC, 443)]
    assert listener.hits == before + 1


@pytest.mark.parametrize("form", _cases(URLS))
def test_a_hostile_form_is_refused_whatever_the_resolver_says(watched: Watched, form: Form) -> None:
    with pytest.raises(EgressRefused):
        watched.guard.check(form.form)
    watched.refuses_to_call(form.form)


@pytest.mark.parametrize("form", _cases(NAMES))
def test_a_name_of_something_internal_is_refused(watched: Watched, form: Form) -> None:
    watched.answers = [[form.resolves_to or ""]]

    with pytest.raises(EgressRefused):
        watched.guard.check(form.form)
    watched.refuses_to_call(form.form)


@pytest.mark.parametrize("form", _cases(ADDRESSES))
def test_a_name_with_a_hostile_address_is_refused(watched: Watched, form: Form) -> None:
    for answer in ([form.form], [PUBLIC, form.form], [form.form, PUBLIC]):
        watched.answers = [answer]
        with pytest.raises(EgressRefused):
            watched.guard.check(GOOD)
        with pytest.raises(EgressRefused):
            watched.call(GOOD)


@pytest.mark.parametrize("form", _cases(ADDRESSES + NAMES))
def test_a_name_that_turns_hostile_after_its_registration_is_refused_at_the_call(watched: Watched, form: Form) -> None:
    watched.answers = [[PUBLIC], [form.resolves_to or form.form]]

    watched.guard.check(GOOD)
    watched.refuses_to_call(GOOD)


@pytest.mark.parametrize("form", _cases(ADDRESSES))
def test_a_hostile_address_in_a_url_is_refused_whatever_the_resolver_says(watched: Watched, form: Form) -> None:
    literal = f"[{form.form}]" if ":" in form.form else form.form

    with pytest.raises(EgressRefused):
        watched.guard.check(f"https://{literal}/mcp")
    with pytest.raises(EgressRefused):
        watched.call(f"https://{literal}:8443/")


@pytest.mark.parametrize("form", _cases(URLS + NAMES))
def test_a_hostile_token_endpoint_is_refused_and_gets_no_secret(watched: Watched, form: Form) -> None:
    watched.answers = [[form.resolves_to or PUBLIC]]
    credential = Credential(CredentialKind.OAUTH, "s3cret", token_url=form.form, client_id="bot")

    with pytest.raises(EgressRefused):
        watched.call(GOOD, credential=credential)


@pytest.mark.parametrize("form", _cases(URLS))
def test_a_hostile_form_stays_refused_where_loopback_is_allowed_unless_it_is_loopback_itself(form: Form) -> None:
    guard = EgressGuard(allow_loopback=True, resolve=always(PUBLIC))

    try:
        vetted = guard.vet(form.form)
    except EgressRefused:
        return
    assert all(address.is_loopback for address in vetted.addresses)
