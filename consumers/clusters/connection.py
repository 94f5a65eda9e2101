"""Tests the connection to a cluster: each name server, and on each master the calls that every poll makes.

The command asks by itself; a page asks the general worker, through Redis, and shows what each call was answered with.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from celery import shared_task

from consumers.jobs import asking
from consumers.jobs.asking import PATIENCE, Answer, AnswerFailed
from consumers.jobs.hold import connected, reaching
from consumers.jobs.permissions import user_may
from consumers.models import Cluster
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.name_server import NameServer
from consumers.rocketmq.wire.codes import (
    BrokerRefused,
    DeadlineExceeded,
    NameServersFailed,
    RemoteProtocolError,
    RequestCode,
    ResponseCode,
    RocketMQError,
    Unreachable,
    call_name,
)
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.vocabulary.reasons import AnswerProblem, ConnectionCure
from consumers.words.jobs import CONNECTION_CURES

MAY_CHECK = "consumers.manage_clusters"
CALL_SECONDS = 3.0
RETAINED_SECONDS = 300
# Brokers are asked one after the other: of a large cluster the first.
MOST_BROKERS = 8
CHECK_PATIENCE = PATIENCE + timedelta(seconds=20)
# What brokers with access control say of missing and wrong keys (RocketMQ 5.4.0, DefaultAuthenticationHandler; 4.9,
# PlainAccessValidator).
UNSIGNED = ("username cannot be null", "check signature failed", "is not found", "no acl config", "accesskey is null")


@dataclass(frozen=True)
class CheckedCall:
    """`problem` and `cure` are null where it was answered. `peer`: the name of a broker; "" of a name server."""

    peer: str
    address: str
    call: str
    problem: str | None = None
    cure: ConnectionCure | None = None

    @property
    def cure_words(self) -> str:
        return str(CONNECTION_CURES[ConnectionCure(self.cure)]) if self.cure else ""


@dataclass(frozen=True)
class ConnectionCheck:
    """`left_out`: masters that were not asked, as the cluster has many."""

    calls: tuple[CheckedCall, ...]
    left_out: int

    @property
    def failures(self) -> list[CheckedCall]:
        return [one for one in self.calls if one.problem is not None]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, document: dict[str, Any]) -> "ConnectionCheck":
        return cls(tuple(CheckedCall(**one) for one in document["calls"]), document["left_out"])


def cure_of(error: RocketMQError, *, of_broker: bool) -> ConnectionCure:
    """Returns what to check first. `of_broker`: a broker failed, not a name server. Nobody typed its address."""
    if isinstance(error, NameServersFailed):
        return cure_of(error.failures[0], of_broker=of_broker)
    if isinstance(error, BrokerRefused):
        if any(word in str(error).lower() for word in UNSIGNED):
            return ConnectionCure.KEYS
        return ConnectionCure.PERMISSION if error.code == ResponseCode.NO_PERMISSION else ConnectionCure.VERSION
    if isinstance(error, RemoteProtocolError):
        return ConnectionCure.NOT_ROCKETMQ
    if isinstance(error, DeadlineExceeded):
        return ConnectionCure.FIREWALL
    if isinstance(error, Unreachable) and "certificate" in str(error):
        return ConnectionCure.CERTIFICATE
    if isinstance(error, Unreachable) and "closed the connection" in str(error):
        return ConnectionCure.TLS
    return ConnectionCure.ANNOUNCED_ADDRESS if of_broker else ConnectionCure.ADDRESS


async def checked(pool: ConnectionPool, name_servers: list[str]) -> ConnectionCheck:
    """Reads only. Never raises for what a peer does."""
    calls: list[CheckedCall] = []
    masters: dict[str, str] = {}
    for address in name_servers:
        server = NameServer(pool, [address])
        line = CheckedCall("", address, call_name(RequestCode.GET_BROKER_CLUSTER_INFO))
        try:
            info = await server.cluster(deadline_seconds=CALL_SECONDS)
        except RocketMQError as error:
            calls.append(replace(line, problem=str(error), cure=cure_of(error, of_broker=False)))
            continue
        calls.append(line)
        masters |= {one.name: one.master for one in info.brokers if one.master}
    chosen = sorted(masters.items())[:MOST_BROKERS]
    for name, address in chosen:
        calls += [line async for line in _broker_calls(pool, name, address)]
    return ConnectionCheck(tuple(calls), len(masters) - len(chosen))


async def _broker_calls(pool: ConnectionPool, name: str, address: str) -> AsyncIterator[CheckedCall]:
    """The first that does not reach the broker ends it: the others would say the same."""
    for code, ask in _asked(BrokerAdmin(pool, address)):
        line = CheckedCall(name, address, call_name(code))
        try:
            await ask()
        except RocketMQError as error:
            yield replace(line, problem=str(error), cure=cure_of(error, of_broker=True))
            if not isinstance(error, BrokerRefused):
                return
        else:
            yield line


def _asked(broker: BrokerAdmin) -> Iterator[tuple[RequestCode, Callable[[], Awaitable[Any]]]]:
    """Calls that permissions of RocketMQ may allow or refuse one by one."""
    yield RequestCode.GET_BROKER_CONFIG, lambda: broker.config(deadline_seconds=CALL_SECONDS)
    yield RequestCode.GET_ALL_TOPIC_CONFIG, lambda: broker.topics(deadline_seconds=CALL_SECONDS)
    yield RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, lambda: broker.groups(deadline_seconds=CALL_SECONDS)
    yield RequestCode.GET_ALL_CONSUMER_OFFSET, lambda: broker.consumer_offsets(deadline_seconds=CALL_SECONDS)


def check_now(cluster: Cluster) -> ConnectionCheck:
    """Raises AnswerFailed where the registration itself does not allow to connect."""
    with reaching(AnswerProblem.CONNECTION_UNTESTED):
        wire = connected(cluster)
        return wire.run(checked(wire.pool, cluster.name_servers))


# Asked by a page.
KIND = "connection"


def ask_check(user: Any, cluster: str, now: datetime) -> str:
    """Its token. Raises RedisDown. Whoever calls it has seen that the user has MAY_CHECK there."""
    token = asking.new_token()
    key = asking.user_key(KIND, user.pk, token)
    asking.ask(check_connection, key, {"cluster": cluster}, now, RETAINED_SECONDS)
    return token


def check_answer(user_id: int, token: str, cluster: str) -> Answer[ConnectionCheck] | None:
    """None where this user has no such request for this cluster, or it has expired. Raises RedisDown."""
    key = asking.user_key(KIND, user_id, token)
    return asking.read_answer(key, {"cluster": cluster}, "check", ConnectionCheck.of_json)


@shared_task(name="consumers.check_connection")
def check_connection(key: str, cluster: str) -> None:
    with asking.answering(key, "check", RETAINED_SECONDS) as answer:
        if not user_may(asking.user_of(key), MAY_CHECK, cluster):
            raise AnswerFailed(AnswerProblem.CHECKS_NOT_PERMITTED, permission=MAY_CHECK, cluster=cluster)
        found = Cluster.objects.filter(name=cluster).first()
        if found is None:
            raise AnswerFailed(AnswerProblem.CLUSTER_GONE, cluster=cluster)
        answer["check"] = check_now(found).as_json()
