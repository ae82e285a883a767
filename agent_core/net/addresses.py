"""Which network addresses lie on the public internet. Pure."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

IPAddress = IPv4Address | IPv6Address

_UNICAST_6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")

# What ``is_global`` lets through on some Python versions, or calls global although no stranger should
# have us speak to it.
_CLOSED: tuple[IPv4Network | IPv6Network, ...] = tuple(
    ip_network(block)
    for block in (
        "168.63.129.16/32",  # the host agent of Azure
        "192.0.0.0/24",  # protocol assignments; instance metadata of Oracle Cloud is among them
        "192.88.99.0/24",  # 6to4 relays
        "2001::/23",  # protocol assignments, Teredo among them
        "3fff::/20",  # documentation
    )
)


def is_public(address: IPAddress) -> bool:
    """Whether an address is ordinary unicast on the public internet. An IPv6 address that leads to an IPv4
    one (mapped, 6to4, NAT64) is judged by where it leads."""
    if isinstance(address, IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return is_public(inner)
        if address not in _UNICAST_6 or address.scope_id is not None:
            return False
    if any(address in block for block in _CLOSED if block.version == address.version):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved)


def written_address(host: str) -> IPAddress | None:
    """The address a URL's host is, or None when it is a name.

    Raises:
        ValueError: It looks like an IPv4 address in a spelling other than four plain decimal numbers.
            Systems read such spellings (``0x7f.1``, ``017700000001``, ``2130706433``) each in their own way.
    """
    try:
        return ip_address(host)
    except ValueError:
        last = host.rstrip(".").rpartition(".")[2].lower()
        if ":" in host or last.isdigit() or (last.startswith("0x") and last[2:].isalnum()) or last == "0x":
            raise
        return None


def _embedded(address: IPv6Address) -> IPv4Address | None:
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour
