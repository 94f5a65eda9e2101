"""Addresses that channels may send to: public addresses and the networks that the site allows, no others.

People enter URLs, and this machine may reach networks that they may not. So names are resolved here, every address is
checked, and the connection goes to a checked address without a second DNS lookup.
"""

import ipaddress
import re
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from consumers.vocabulary.alerts import DeliveryResult, UrlProblem
from consumers.vocabulary.reasons import stored_reason

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# IANA's registries of special-purpose addresses (2025) have entries that is_global of some Python versions lacks.
NEVER_PUBLIC: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
        *("::/8", "64:ff9b:1::/48", "100::/8", "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48"),
        *("3fff::/20", "5f00::/16", "fc00::/6", "ff00::/8"),
    )
)
PUBLIC_SIX = ipaddress.IPv6Network("2000::/3")
# RFC 6052: the last four bytes are an IPv4 address that a translator forwards to.
TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")


class WrongAddress(Exception):
    """str() is a stored reason: why nothing is sent to this address, and what to do."""


class NotResolved(Exception):
    """The name resolves to no address at present; str() is a stored reason."""


def is_allowed(address: Address, networks: Sequence[Network]) -> bool:
    inner = _inner(address)
    if inner is not None:
        return is_allowed(inner, networks)
    if any(address.version == network.version and address in network for network in networks):
        return True
    if address.version == 6 and address not in PUBLIC_SIX:
        return False
    return address.is_global and not any(address.version == net.version and address in net for net in NEVER_PUBLIC)


def _inner(address: Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that this address embeds and leads to; None where it embeds none."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    return ipaddress.IPv4Address(address.packed[-4:]) if address in TRANSLATED else None


def checked_addresses(host: str, port: int, networks: Sequence[Network], seconds: float) -> list[str]:
    """The addresses of `host`, all of them allowed. Raises WrongAddress where one is not, and NotResolved."""
    found = _resolved(host, port, seconds)
    for text in found:
        # A zone ("%eth0") belongs to link-local addresses, which are never allowed.
        if "%" in text or not is_allowed(ipaddress.ip_address(text), networks):
            if text == host:
                raise WrongAddress(stored_reason(DeliveryResult.NOT_PUBLIC, host=host))
            raise WrongAddress(stored_reason(DeliveryResult.LEADS_TO_NOT_PUBLIC, host=host, address=text))
    return found


def _resolved(host: str, port: int, seconds: float) -> list[str]:
    """The system resolver has no deadline of its own: a lookup that is late is abandoned."""
    found: list[str] = []
    failures: list[OSError | UnicodeError] = []

    def ask() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            failures.append(error)
        else:
            found.extend(dict.fromkeys(str(answer[4][0]) for answer in answers))

    asking = threading.Thread(target=ask, daemon=True, name="resolver")
    asking.start()
    asking.join(seconds)
    if asking.is_alive():
        raise NotResolved(stored_reason(DeliveryResult.RESOLVED_LATE, host=host, limit=f"{seconds:g}"))
    if failures:
        raise NotResolved(stored_reason(DeliveryResult.NOT_RESOLVED, host=host, error=str(failures[0])))
    if not found:
        raise NotResolved(stored_reason(DeliveryResult.NO_ADDRESS, host=host))
    return found


# The parts of a URL that somebody entered; nothing is resolved here.

LONGEST_URL = 2000
PORTS = {"http": 80, "https": 443}
NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?")
# The system's resolver reads 2130706433, 0x7f.1 and 0177.0.0.1 as 127.0.0.1: such spellings only hide an address.
NUMBER_AS_LAST_PART = re.compile(r"(?:.*\.)?(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?")


@dataclass(frozen=True)
class Url:
    """`host` without brackets; `path` with its query."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """The part of a URL that may be shown: paths and queries of webhooks often contain a token."""
        return f"{self.scheme}://{self.authority}"


def parsed_url(text: str) -> Url:
    """Raises WrongAddress."""
    if len(text) > LONGEST_URL or any(not 0x21 <= ord(character) <= 0x7E or character == "\\" for character in text):
        raise WrongAddress(stored_reason(UrlProblem.CHARACTERS, longest=LONGEST_URL))
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise WrongAddress(stored_reason(UrlProblem.NO_URL)) from None
    _check(parts, port)
    host = (parts.hostname or "").lower()
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(parts.scheme, host, port or PORTS[parts.scheme], path)


def _check(parts: SplitResult, port: int | None) -> None:
    if parts.scheme not in PORTS:
        raise WrongAddress(stored_reason(UrlProblem.SCHEME))
    if "@" in parts.netloc:
        raise WrongAddress(stored_reason(UrlProblem.USER))
    if parts.fragment:
        raise WrongAddress(stored_reason(UrlProblem.FRAGMENT))
    if port == 0 or parts.netloc.endswith(":"):
        raise WrongAddress(stored_reason(UrlProblem.PORT))
    _check_host(parts.hostname or "", bracketed=parts.netloc.startswith("["))


def _check_host(host: str, bracketed: bool) -> None:
    if bracketed:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            raise WrongAddress(stored_reason(UrlProblem.NO_IPV6)) from None
        if "%" in host:
            raise WrongAddress(stored_reason(UrlProblem.ZONE))
    elif NUMBER_AS_LAST_PART.fullmatch(host):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise WrongAddress(stored_reason(UrlProblem.NO_IPV4)) from None
    elif not NAME.fullmatch(host) or len(host) > 253:
        raise WrongAddress(stored_reason(UrlProblem.NO_HOST))
