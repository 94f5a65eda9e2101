"""Where a broker or a name server listens, as people and name servers write it: `host:port`."""

from dataclasses import dataclass

from .errors import LocalProtocolError


@dataclass(frozen=True)
class Address:
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """`host:port`, IPv6 in brackets. Raises LocalProtocolError."""
    host, _, _ = text.strip().rpartition(":")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise LocalProtocolError(f"the address {text!r} needs brackets around its IPv6 host, as in [::1]:9876")
    return registered_address(text)


def registered_address(text: str) -> Address:
    """The same as brokers register it: the last colon ends the host, in brackets or not (5.4.0, NetworkUtil)."""
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    if not colon or not host or any(character.isspace() for character in host):
        raise LocalProtocolError(f"the address {text!r} is not of the form host:port")
    if not (port.isascii() and port.isdigit() and 1 <= int(port[:6]) <= 65535 and len(port) <= 5):
        raise LocalProtocolError(f"the address {text!r} has no port between 1 and 65535")
    return Address(host, int(port))
