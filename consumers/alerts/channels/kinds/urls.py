"""A URL that somebody entered for a channel, in its parts; nothing is resolved here."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from .addresses import WrongAddress

LONGEST_URL = 2000
PORTS = {"http": 80, "https": 443}
NAME = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?")
# The system's resolver takes 2130706433, 0x7f.1 and 0177.0.0.1 for 127.0.0.1: who writes so has something to hide.
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
        """As the header Host wants it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """What may be shown: paths and queries of webhooks often hold a token."""
        return f"{self.scheme}://{self.authority}"


def parsed_url(text: str) -> Url:
    """Raises WrongAddress."""
    if len(text) > LONGEST_URL or any(not 0x21 <= ord(letter) <= 0x7E or letter == "\\" for letter in text):
        raise WrongAddress(
            f"A URL has at most {LONGEST_URL} characters of ASCII, without spaces and backslashes: write other letters "
            "of a host as xn--…, and of a path as %…."
        )
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise WrongAddress("This is not a URL: write https://host/path, with a port from 1 to 65535.") from None
    _check(parts, port)
    host = (parts.hostname or "").lower()
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Url(parts.scheme, host, port or PORTS[parts.scheme], path)


def _check(parts: SplitResult, port: int | None) -> None:
    if parts.scheme not in PORTS:
        raise WrongAddress("A URL of a channel begins with https:// or http://.")
    if "@" in parts.netloc:
        raise WrongAddress("Leave user and password out of the URL: they have fields, or headers, of their own.")
    if parts.fragment:
        raise WrongAddress("A URL of a channel has no part behind '#'.")
    if port == 0 or parts.netloc.endswith(":"):
        raise WrongAddress("A port is a number from 1 to 65535; leave it out, with its colon, for the usual one.")
    _check_host(parts.hostname or "", bracketed=parts.netloc.startswith("["))


def _check_host(host: str, bracketed: bool) -> None:
    if bracketed:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            raise WrongAddress("Between '[' and ']' stands an address of IPv6.") from None
        if "%" in host:
            raise WrongAddress("An address with a zone belongs to one link of one machine: nothing is sent there.")
    elif NUMBER_AS_LAST_PART.fullmatch(host):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise WrongAddress(
                "Write an address of IPv4 as four decimal numbers without leading zeros: 192.0.2.1."
            ) from None
    elif not NAME.fullmatch(host) or len(host) > 253:
        raise WrongAddress("The URL names no host: write https://host/path.")
