"""A server's credential as the headers of its requests.

A token of OAuth's client credentials is fetched through the same guard as every call, kept in memory until shortly
before it expires, and bound to its server: it is asked for with the server as its resource (RFC 8707), and sent to no
other.
"""

import re
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar
from urllib.parse import quote_plus

from botforge.adapters.tools.endpoint_url import read_endpoint_url
from botforge.adapters.tools.exchanges import Exchange, Exchanges, Work
from botforge.adapters.tools.json_values import NotJson, as_object, parse
from botforge.domain.deadline import Deadline
from botforge.domain.errors import Delivery, EgressRefused, ToolServerError
from botforge.domain.tool import Credential, CredentialKind
from botforge.ports.tools import Endpoint

_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_OURS = frozenset(  # headers that say what the request is, and to whom
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "expect",
    }
    | {"host", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"}
)
_EARLY_S = 60.0  # a token is taken for expired so much before it is, or half of its life before
_DEFAULT_LIFE_S = 300.0  # of a token without ``expires_in``
_MAX_TOKENS = 256

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Token:
    value: str
    expires_at: float  # on the monotonic clock


class CredentialHeaders:
    """Holds access tokens, never the credentials that they were got with."""

    def __init__(self, exchanges: Exchanges, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._exchanges = exchanges
        self._monotonic = monotonic
        self._tokens: dict[bytes, _Token] = {}
        self._lock = threading.Lock()

    def of(self, endpoint: Endpoint, deadline: Deadline) -> Mapping[str, str]:
        """Raises EgressRefused for a token endpoint that we do not connect to, ToolServerError (``not_sent``)."""
        credential = endpoint.credential
        if credential is None:
            return {}
        match credential.kind:
            case CredentialKind.BEARER:
                return {"Authorization": f"Bearer {_sendable(credential.secret)}"}
            case CredentialKind.HEADER:
                name = credential.header or ""
                if not _NAME.fullmatch(name) or name.lower() in _OURS:
                    raise _error("The credential's header has no name that it may have.")
                return {name: _sendable(credential.secret)}
            case CredentialKind.OAUTH:
                return {"Authorization": f"Bearer {self._token(endpoint.url, credential, deadline)}"}

    def rejected(self, endpoint: Endpoint) -> None:
        """The server did not take it: a token is got anew next time."""
        if endpoint.credential is not None:
            with self._lock:
                self._tokens.pop(_key(endpoint.url, endpoint.credential), None)

    def _token(self, url: str, credential: Credential, deadline: Deadline) -> str:
        key = _key(url, credential)
        now = self._monotonic()
        with self._lock:
            token = self._tokens.get(key)
        if token is None or token.expires_at <= now:
            token = self._fetch(url, credential, deadline, now)
            with self._lock:
                self._tokens = {k: t for k, t in self._tokens.items() if t.expires_at > now}
                if len(self._tokens) < _MAX_TOKENS:
                    self._tokens[key] = token
        return token.value

    def _fetch(self, url: str, credential: Credential, deadline: Deadline, now: float) -> _Token:
        """RFC 6749, section 4.4, authenticated by HTTP Basic (section 2.3.1)."""
        form = {"grant_type": "client_credentials", "resource": _resource(url)}
        if credential.scope:
            form["scope"] = credential.scope
        pair = f"{quote_plus(credential.client_id or '')}:{quote_plus(credential.secret)}"
        headers = {"Authorization": f"Basic {b64encode(pair.encode()).decode()}", "Accept": "application/json"}

        async def ask(exchange: Exchange[bytes]) -> None:
            response = await exchange.http.post(str(exchange.endpoint.url), data=form)
            if response.status_code != 200:
                raise _error(f"The token endpoint answered with HTTP {response.status_code}.")
            exchange.answer(response.content)

        try:
            body = self._exchanges.run(credential.token_url or "", ask, headers=headers, deadline=deadline)
        except EgressRefused as refused:
            raise EgressRefused(f"The token endpoint is refused. {refused.message}", field="token_url") from refused
        return _read_token(body, now)


def _read_token(body: bytes, now: float) -> _Token:
    try:
        answer = as_object(parse(body)) or {}
    except NotJson:
        answer = {}
    value, kind, life = answer.get("access_token"), answer.get("token_type", "bearer"), answer.get("expires_in")
    if not isinstance(value, str) or not isinstance(kind, str) or kind.lower() != "bearer":
        raise _error("The token endpoint gave no bearer token.")
    seconds = float(life) if isinstance(life, int | float) and life > 0 else _DEFAULT_LIFE_S
    return _Token(_sendable(value), now + seconds - min(_EARLY_S, seconds / 2))


def _key(url: str, credential: Credential) -> bytes:
    parts = (
        _resource(url),
        credential.token_url,
        credential.client_id,
        credential.scope,
        credential.secret,
    )
    return sha256(repr(parts).encode()).digest()


def _resource(url: str) -> str:
    """The server's canonical URI, as MCP's authorisation asks for it."""
    return read_endpoint_url(url).below("").partition("?")[0]


def _sendable(secret: str) -> str:
    if not _VALUE.fullmatch(secret):
        raise _error("The credential has characters that no HTTP header can hold.")
    return secret


class AuthorisedExchanges:
    """Exchanges with tool servers, each with its credential."""

    def __init__(self, exchanges: Exchanges, credentials: CredentialHeaders) -> None:
        self._exchanges = exchanges
        self._credentials = credentials

    def run(self, endpoint: Endpoint, work: Work[T], deadline: Deadline) -> T:
        """Raises EgressRefused and ToolServerError."""
        headers = self._credentials.of(endpoint, deadline)
        try:
            return self._exchanges.run(endpoint.url, work, headers=headers, deadline=deadline)
        except ToolServerError as error:
            if error.code == "tool_server_unauthorized":
                self._credentials.rejected(endpoint)
            raise


def _error(message: str) -> ToolServerError:
    return ToolServerError(message, code="tool_server_unauthorized", delivery=Delivery.NOT_SENT)
