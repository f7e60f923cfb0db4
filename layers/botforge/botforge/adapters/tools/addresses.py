"""Which IP addresses we connect to: those of the public internet, and loopback where a developer allows it.

A tool server's address is a stranger's choice, and so is what its name resolves to. ``ipaddress.is_global`` is no
guard: it changed between Python releases, and it accepts addresses that carry an internal one inside
(``64:ff9b::a9fe:a9fe``, ``2002:a9fe:a9fe::``). The networks below are those of the IANA special-purpose registries
(RFC 6890 and its updates), with what cloud providers keep inside.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

IPAddress = IPv4Address | IPv6Address

_IPV4 = tuple(
    (IPv4Network(network), what)
    for network, what in (
        ("0.0.0.0/8", "of this host"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "of a carrier's inner network"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "of a cloud's metadata service"),  # Azure's, in the midst of public space
        ("169.254.0.0/16", "link-local"),  # AWS, Google and Azure serve credentials at 169.254.169.254
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),  # 192.0.0.192: Oracle's metadata service
        ("192.0.2.0/24", "for documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "of a relay"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),  # 255.255.255.255 included
    )
)

# All of IPv6 outside it is refused: loopback, unique-local (AWS fd00:ec2::254), link-local, multicast, IPv4-mapped and
# -compatible, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard, segment routing.
_IPV6_UNICAST = IPv6Network("2000::/3")
_IPV6 = tuple(
    (IPv6Network(network), what)
    for network, what in (
        ("2001::/23", "reserved"),  # Teredo, benchmarks and ORCHID included
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "of a relay"),  # 6to4: an IPv4 address inside
        ("2620:4f:8000::/48", "reserved"),
        ("3fff::/20", "for documentation"),
    )
)
_ISATAP = (bytes.fromhex("00005efe"), bytes.fromhex("02005efe"))  # RFC 5214: before an IPv4 address, under any prefix


def refusal(address: IPAddress) -> str | None:
    """Why we do not connect to ``address``, as the end of "the address is …"; None for a public one."""
    if isinstance(address, IPv4Address):
        return next((what for network, what in _IPV4 if address in network), None)
    if address.scope_id is not None or address not in _IPV6_UNICAST:
        return "not public"
    if address.packed[8:12] in _ISATAP:
        return "of a tunnel"
    return next((what for network, what in _IPV6 if address in network), None)


def is_loopback(address: IPAddress) -> bool:
    return address.is_loopback and not (isinstance(address, IPv6Address) and address.ipv4_mapped)
