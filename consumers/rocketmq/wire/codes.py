"""The numbers of calls and answers that matter here (5.4.0: RequestCode, ResponseCode, RemotingSysResponseCode), and
small values of the protocol: errors, addresses, times, versions, credentials and TLS.
"""

import base64
import hashlib
import hmac
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum

from consumers.vocabulary.times import EPOCH


class RequestCode(IntEnum):
    PULL_MESSAGE = 11
    QUERY_MESSAGE = 12
    QUERY_CONSUMER_OFFSET = 14
    UPDATE_CONSUMER_OFFSET = 15
    UPDATE_AND_CREATE_TOPIC = 17
    GET_ALL_TOPIC_CONFIG = 21
    GET_BROKER_CONFIG = 26
    GET_BROKER_RUNTIME_INFO = 28
    SEARCH_OFFSET_BY_TIMESTAMP = 29
    GET_MAX_OFFSET = 30
    GET_MIN_OFFSET = 31
    GET_EARLIEST_MSG_STORETIME = 32
    VIEW_MESSAGE_BY_ID = 33
    HEART_BEAT = 34
    UNREGISTER_CLIENT = 35
    CONSUMER_SEND_MSG_BACK = 36
    GET_CONSUMER_LIST_BY_GROUP = 38
    NOTIFY_CONSUMER_IDS_CHANGED = 40
    GET_ALL_CONSUMER_OFFSET = 43
    GET_ALL_DELAY_OFFSET = 45
    GET_TIMER_METRICS = 61
    GET_ROUTEINFO_BY_TOPIC = 105
    GET_BROKER_CLUSTER_INFO = 106
    UPDATE_AND_CREATE_SUBSCRIPTIONGROUP = 200
    GET_ALL_SUBSCRIPTIONGROUP_CONFIG = 201
    GET_TOPIC_STATS_INFO = 202
    GET_CONSUMER_CONNECTION_LIST = 203
    GET_ALL_TOPIC_LIST_FROM_NAMESERVER = 206
    DELETE_SUBSCRIPTIONGROUP = 207
    GET_CONSUME_STATS = 208
    INVOKE_BROKER_TO_RESET_OFFSET = 222
    INVOKE_BROKER_TO_GET_CONSUMER_STATUS = 223
    GET_CONSUMER_RUNNING_INFO = 307
    CONSUME_MESSAGE_DIRECTLY = 309
    SEND_MESSAGE_V2 = 310
    VIEW_BROKER_STATS_DATA = 315
    QUERY_CONSUME_QUEUE = 321
    GET_TOPIC_CONFIG = 351
    QUERY_ASSIGNMENT = 400
    GET_ALL_MESSAGE_REQUEST_MODE = 402


class ResponseCode(IntEnum):
    SUCCESS = 0
    SYSTEM_ERROR = 1
    SYSTEM_BUSY = 2
    REQUEST_CODE_NOT_SUPPORTED = 3
    FLUSH_DISK_TIMEOUT = 10
    SLAVE_NOT_AVAILABLE = 11
    FLUSH_SLAVE_TIMEOUT = 12
    MESSAGE_ILLEGAL = 13
    SERVICE_NOT_AVAILABLE = 14
    NO_PERMISSION = 16
    TOPIC_NOT_EXIST = 17
    PULL_NOT_FOUND = 19
    PULL_RETRY_IMMEDIATELY = 20
    PULL_OFFSET_MOVED = 21
    QUERY_NOT_FOUND = 22
    SUBSCRIPTION_NOT_EXIST = 24
    SUBSCRIPTION_NOT_LATEST = 25
    SUBSCRIPTION_GROUP_NOT_EXIST = 26
    INVALID_PARAMETER = 29
    CONSUMER_NOT_ONLINE = 206
    CONSUME_MSG_TIMEOUT = 207
    FLOW_CONTROL = 215
    NOT_LEADER_FOR_QUEUE = 501
    GO_AWAY = 1500


def call_name(request_code: int) -> str:
    """`GET_CONSUME_STATS (208)`, as RocketMQ names it; `request 9999` where the number is not listed here."""
    try:
        return f"{RequestCode(request_code).name} ({request_code})"
    except ValueError:
        return f"request {request_code}"


# Everything that can go wrong on the wire, as types. The type says who broke what; str() is one sentence.


class RocketMQError(Exception):
    """`address` is the peer's, None where no peer was involved or the caller has yet to add it.

    `never_sent` is true where it is certain that no byte of the request left; false says nothing.
    """

    never_sent = False

    def __init__(self, sentence: str, *, address: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.address = address

    def __str__(self) -> str:
        return self.sentence if self.address is None else f"{self.address}: {self.sentence}"


class Unreachable(RocketMQError):
    """Refused, not resolvable, reset, or closed before the answer was whole."""


class DeadlineExceeded(RocketMQError):
    """The peer may still be working on it."""


class RemoteProtocolError(RocketMQError):
    """The peer broke the rules of frames or bodies."""


class LocalProtocolError(RocketMQError):
    """We were about to break them: a bad address, a field that cannot be sent. Nothing was sent."""

    never_sent = True


# What brokers with access control say, in other words (5.4.0, DefaultAuthenticationHandler).
_MEANINGS = {
    "username cannot be null": "it wants requests signed with an access key",
    "check signature failed": "the secret key is not the one of this access key",
}


class BrokerRefused(RocketMQError):
    """A whole answer with a code that is not success."""

    def __init__(self, code: int, remark: str | None, request_code: int, *, address: str | None = None) -> None:
        self.code = code
        self.remark = remark
        self.request_code = request_code
        try:
            meaning = f"{ResponseCode(code).name} ({code})"
        except ValueError:
            meaning = f"code {code}"
        # Brokers put whole stack traces into remarks; the first line carries the reason.
        reason = f": {remark.splitlines()[0]}" if remark and remark.strip() else ""
        advice = next((f" – {words}" for part, words in _MEANINGS.items() if part in reason), "")
        super().__init__(f"{call_name(request_code)} was refused with {meaning}{reason}{advice}", address=address)


class GoAway(BrokerRefused):
    """The server is shutting down and wants clients to reconnect elsewhere (5.3.2+, NettyRemotingAbstract)."""


class NameServersFailed(RocketMQError):
    """No name server gave an answer; `failures` holds what each of them did, in the order asked."""

    def __init__(self, failures: list[RocketMQError]) -> None:
        self.failures = tuple(failures)
        super().__init__("no name server answered: " + "; ".join(str(failure) for failure in failures))


def refused(code: int, remark: str | None, request_code: int, *, address: str | None = None) -> BrokerRefused:
    kind = GoAway if code == ResponseCode.GO_AWAY else BrokerRefused
    return kind(code, remark, request_code, address=address)


# Small values of the protocol: addresses, times, versions, and signatures for access control.


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


# TLS towards brokers and name servers: the client begins it, on the ordinary port (5.4.0, NettyRemotingServer).
#
# Certificates are verified, host names too, unless the options say otherwise in so many words.
@dataclass(frozen=True)
class TlsOptions:
    """Paths of PEM files. Without `ca` the machine's own authorities count; `key` may stand in `certificate`.

    `any_host`: a certificate of these authorities will do, whatever host it names.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    verify: bool = True
    any_host: bool = False


def client_context(options: TlsOptions) -> ssl.SSLContext:
    """Raises LocalProtocolError where a file does not serve."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = options.verify and not options.any_host
    if not options.verify:
        context.verify_mode = ssl.CERT_NONE
    elif options.ca is None:
        context.load_default_certs()
    else:
        try:
            context.load_verify_locations(options.ca)
        except OSError as error:
            raise LocalProtocolError(f"the TLS authorities {options.ca} cannot be used ({_cause(error)})") from error
    if options.certificate is not None:
        try:
            # The answer to a question for a passphrase: none, where asking would block for ever.
            context.load_cert_chain(options.certificate, options.key, password=_no_passphrase)
        except (OSError, ValueError) as error:
            files = " and ".join(file for file in (options.certificate, options.key) if file)
            raise LocalProtocolError(f"the TLS certificate {files} cannot be used ({_cause(error)})") from error
    return context


def _no_passphrase() -> str:
    raise ValueError("its key is encrypted: give one without a passphrase, readable by the poll worker alone")


def _cause(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return "it holds no valid PEM, or the two do not belong together"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
