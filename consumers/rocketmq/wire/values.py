"""Small values of the protocol: addresses, times, versions, and signatures for access control."""

import base64
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from .errors import LocalProtocolError


# Where a broker or a name server listens, as people and name servers write it: `host:port`.
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


# Java's milliseconds as times.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Nothing that happened is later: what a clock or a field says beyond it is no time.
LAST_MS = 253_402_300_799_000


def time_of(milliseconds: int | None) -> datetime | None:
    """None also for 0, which a Java long holds while there is nothing to tell, and for what no calendar has."""
    if milliseconds is None or not 0 < milliseconds <= LAST_MS:
        return None
    return EPOCH + timedelta(milliseconds=milliseconds)


# RocketMQ counts its versions: every command carries its sender's version as an ordinal (5.4.0, MQVersion.Version).
# V3_0_0 has sixteen pre-releases, 3.0 runs to 3.0.15, 3.3 to 3.9 start at patch 1; from 4.0 on a minor has ten patches.
_FIRST_PATCHES = {**dict.fromkeys([(3, minor) for minor in range(3, 10)], 1), (3, 0): 1}

_LAST_PATCHES = {(3, 0): 15}

_PRE_RELEASES = (
    ["SNAPSHOT", "ALPHA1"]
    + [f"BETA{number}" for number in range(1, 6)]
    + [f"BETA{number}{suffix}" for number in range(6, 10) for suffix in ("_SNAPSHOT", "")]
    + ["FINAL"]
)


def _names() -> list[str]:
    names = [f"V3_0_0_{suffix}" for suffix in _PRE_RELEASES]
    for major in (3, 4, 5):
        for minor in range(10):
            first, last = _FIRST_PATCHES.get((major, minor), 0), _LAST_PATCHES.get((major, minor), 9)
            for patch in range(first, last + 1):
                names += [f"V{major}_{minor}_{patch}_SNAPSHOT", f"V{major}_{minor}_{patch}"]
    return names


_NAMES = _names()

_ORDINALS = {name: ordinal for ordinal, name in enumerate(_NAMES)}


def mq_version_name(ordinal: int) -> str | None:
    """`V5_4_0` for 493; None for an ordinal that no release has."""
    return _NAMES[ordinal] if 0 <= ordinal < len(_NAMES) else None


# What this client's commands say. Below V4_9_4 a name server leaves keys of routes unquoted (ClientRequestProcessor).
CLIENT_VERSION = _ORDINALS["V5_4_0"]

# Since this version GET_CONSUME_STATS understands topicList; earlier ones ignore it and answer with an empty table.
BULK_OFFSETS_VERSION = _ORDINALS["V5_3_2"]


@dataclass(frozen=True)
class Credentials:
    """Signatures for brokers with access control, the same for ACL 1.0 and 2.0 (5.4.0, AclClientRPCHook, AclSigner)."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)

    def signed(self, ext_fields: Mapping[str, str], body: bytes) -> dict[str, str]:
        """`ext_fields` with the keys and the signature. What is added afterwards makes the signature wrong."""
        fields = {**ext_fields, "AccessKey": self.access_key}
        if self.security_token is not None:
            fields["SecurityToken"] = self.security_token
        fields.pop("Signature", None)
        # Values only, in the order of their keys, no separators, then the body.
        content = "".join(fields[name] for name in sorted(fields)).encode() + body
        digest = hmac.new(self.secret_key.encode(), content, hashlib.sha1).digest()
        return {**fields, "Signature": base64.b64encode(digest).decode()}
