"""The guard in front of every connection to an address that a registrar chose.

https only; the name is resolved once, every address of it must be public, and the connection goes to those addresses
and to nothing else: between the check and the connection no name is looked up again.
"""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NoReturn

from botforge.adapters.tools.addresses import IPAddress, is_loopback, refusal
from botforge.adapters.tools.endpoint_url import EndpointUrl, read_endpoint_url
from botforge.domain.errors import Delivery, EgressRefused, ToolServerError

_MAX_ADDRESSES = 4  # tried one after the other
_UNKNOWN_NAME = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})

Resolve = Callable[[str, int], Sequence[str]]
"""Addresses of a host, for a TCP port. Raises OSError (``socket.gaierror``) for a name that has none."""


@dataclass(frozen=True, slots=True)
class VettedEndpoint:
    """A URL, and the only addresses that a connection to its host may go to. At least one."""

    url: EndpointUrl
    addresses: tuple[IPAddress, ...]


def resolve_by_system(host: str, port: int) -> Sequence[str]:
    """By getaddrinfo, which blocks for as long as the system's resolver likes."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(sockaddr[0]) for *_, sockaddr in found]


class EgressGuard:
    """``allow_loopback`` is a setting of local development: http and https to 127.0.0.0/8 and ::1 as well."""

    def __init__(self, *, allow_loopback: bool = False, resolve: Resolve = resolve_by_system) -> None:
        self._allow_loopback = allow_loopback
        self._resolve = resolve

    def check(self, url: str) -> None:
        """Raises like ``vet``. What a name resolves to later is vetted again at each call."""
        self.vet(url)

    def vet(self, url: str) -> VettedEndpoint:
        """Read the URL and resolve its host, once.

        Raises EgressRefused for what we do not connect to, and ToolServerError (``not_sent``) while the resolver does
        not answer.
        """
        endpoint = read_endpoint_url(url)
        if endpoint.literal is None and not self._nameable(endpoint.host):
            _refuse("The URL's host is a name of an inner network.")
        addresses = (endpoint.literal,) if endpoint.literal is not None else self._addresses(endpoint)
        loopback = self._allow_loopback and all(is_loopback(address) for address in addresses)
        if not loopback:
            if endpoint.scheme != "https":
                _refuse("The URL is not https.")
            if endpoint.port != 443 and endpoint.port < 1024:
                _refuse("The URL's port is none for HTTP.")
            for address in addresses:
                if what := refusal(address):
                    _refuse(f"The URL's host has an address that is {what}.")
        return VettedEndpoint(endpoint, addresses[:_MAX_ADDRESSES])

    def _nameable(self, host: str) -> bool:
        """A name with a dot, so that no search domain completes it; ``localhost`` where loopback is allowed."""
        return "." in host or (self._allow_loopback and host == "localhost")

    def _addresses(self, endpoint: EndpointUrl) -> tuple[IPAddress, ...]:
        try:
            found = self._resolve(endpoint.host, endpoint.port)
        except socket.gaierror as error:
            if error.errno in _UNKNOWN_NAME:
                _refuse("The URL's host is unknown.")
            raise _unresolved() from None
        except OSError:
            raise _unresolved() from None
        except UnicodeError:
            _refuse("The URL's host is no valid domain name.")
        addresses = tuple(dict.fromkeys(ip_address(text) for text in found))
        if not addresses:
            _refuse("The URL's host has no address.")
        return addresses


def _unresolved() -> ToolServerError:
    return ToolServerError(
        "The tool server's name cannot be resolved at present.",
        code="tool_server_unreachable",
        delivery=Delivery.NOT_SENT,
    )


def _refuse(message: str) -> NoReturn:
    raise EgressRefused(message, field="endpoint_url")
