"""Reading the URL of a tool server: one meaning, or none.

What two parsers read differently is how a check is passed and another host is reached (``http://127.0.0.1\\@good``,
``https://good#@127.0.0.1``). So this grammar takes less than RFC 3986 allows: printable ASCII, no userinfo, no
fragment, no backslash; a host is a name of letters, digits and hyphens, a dotted quad, or a bracketed IPv6 address.
The URL that is then called is put together anew from the parts that were read.
"""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import NoReturn

from botforge.adapters.tools.addresses import IPAddress
from botforge.domain.errors import EgressRefused

MAX_URL_CHARS = 2_048
_DEFAULT_PORTS = {"https": 443, "http": 80}
_URL = re.compile(
    r"(?P<scheme>[a-z]+)://"
    r"(?P<host>\[[0-9a-f:.]+\]|[a-z0-9.-]+)"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?P<path>/[a-z0-9._~!$&'()*+,;=:@%/-]*)?"
    r"(?:\?(?P<query>[a-z0-9._~!$&'()*+,;=:@%/?-]*))?",
    re.IGNORECASE,
)
_ESCAPES = re.compile(r"%(?![0-9a-fA-F]{2})")
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label like this makes browsers and libc read an IPv4 address

# Ports beside 443 must be unprivileged, and none at which something else than HTTP listens: WHATWG Fetch, "port
# blocking", and the usual data stores.
_BLOCKED_PORTS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
    | {1433, 1521, 2375, 2376, 2379, 3306, 3389, 5432, 5672, 6379, 9042, 9200, 11211, 27017}
)


@dataclass(frozen=True, slots=True)
class EndpointUrl:
    """``host`` is in lower case, ASCII, without a trailing dot or brackets; ``path`` begins with a slash."""

    scheme: str  # http or https
    host: str
    literal: IPAddress | None  # the host, where it is an address
    port: int
    path: str
    query: str | None

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if isinstance(self.literal, IPv6Address) else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}")

    def __str__(self) -> str:
        return self.origin + self.path + ("" if self.query is None else f"?{self.query}")

    def below(self, path: str) -> str:
        """The URL of ``path`` (with a leading slash) beneath this one, the query kept."""
        return self.origin + self.path.rstrip("/") + path + ("" if self.query is None else f"?{self.query}")


def read_endpoint_url(url: str) -> EndpointUrl:
    """Raises EgressRefused for a URL that could mean two things, or that we call under no circumstances."""
    if len(url) > MAX_URL_CHARS:
        _refuse(f"The URL is longer than {MAX_URL_CHARS} characters.")
    parts = _URL.fullmatch(_in_ascii(url))
    if parts is None or _ESCAPES.search(url):
        _refuse("The URL is not of the form https://host[:port]/path, without user, fragment or unusual characters.")
    scheme = parts["scheme"].lower()
    if scheme not in _DEFAULT_PORTS:
        _refuse("The URL is not https.")
    host, literal = _host(parts["host"].lower())
    port = int(parts["port"] or _DEFAULT_PORTS[scheme])
    if port > 65_535 or port in _BLOCKED_PORTS:
        _refuse("The URL's port is none for HTTP.")
    return EndpointUrl(scheme, host, literal, port, parts["path"] or "/", parts["query"])


def _in_ascii(url: str) -> str:
    """The host of an internationalised domain name (IDNA 2008) in ASCII; the rest must be ASCII already."""
    if url.isascii():
        return url
    scheme, separator, rest = url.partition("://")
    host, *others = re.split(r"(?=[:/?])", rest, maxsplit=1)
    import idna  # 10 ms, and rarely needed

    try:
        encoded = idna.encode(host.lower().removesuffix(".")).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        _refuse("The URL's host is no valid domain name.")
    return scheme + separator + encoded + "".join(others)


def _host(host: str) -> tuple[str, IPAddress | None]:
    if host.startswith("["):
        try:
            address = IPv6Address(host[1:-1])
        except AddressValueError:
            _refuse("The URL's host is no valid IPv6 address.")
        return str(address), address
    name = host.removesuffix(".")
    labels = name.split(".")
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        _refuse("The URL's host is no valid domain name.")
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return name, IPv4Address(name)
        except AddressValueError:
            _refuse("The URL's host is a number, but no IPv4 address of four decimal parts.")
    return name, None


def _refuse(message: str) -> NoReturn:
    raise EgressRefused(message, field="endpoint_url")
