"""A job of a long-lived worker: which worker runs it, the one that renews `working_at` in the job's row; and the
connections, one per cluster, with what a job may reach or write of it.

The mark is replaced only by who knows the last one, so that a worker that was taken for dead finds out before it does
another thing. The clock is that of the workers; they must agree to within some seconds.
"""

import asyncio
import math
import sqlite3
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import Model, Q

from consumers.jobs.asking import AnswerFailed
from consumers.models import Cluster
from consumers.polling.poll import registration
from consumers.polling.registration import NoAccess, Wire, WireClosed, access_of
from consumers.queries.read_only import ALL, marked_by
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.name_server import NameServer, Route
from consumers.rocketmq.wire.codes import NameServersFailed, RocketMQError, Unreachable
from consumers.rocketmq.writes import BrokerSends, OffsetWrites
from consumers.vocabulary.reasons import AnswerProblem, ReasonCode, stored_reason
from consumers.vocabulary.states import MASTER
from consumers.words.reasons import stored_words

# An own mark that is older is renewed before anything is sent.
FRESH = timedelta(seconds=10)
# A worker that was not seen for so long is taken for dead, and for longer where calls may take long.
LEAST_STALE = timedelta(seconds=30)
# Between two marks a worker makes so many calls in a row: for a dead letter, the route and the end of its target.
CALLS_BETWEEN_MARKS = 3
SPARE = timedelta(seconds=5)


def stale_after() -> timedelta:
    """A mark that is older is a dead worker's: a fresh one, with the deadlines of what it waits for on top, is not."""
    calls = timedelta(seconds=CALLS_BETWEEN_MARKS * settings.POLL_CALL_DEADLINE_SECONDS)
    return max(LEAST_STALE, FRESH + calls + SPARE)


Key = TypeVar("Key", UUID, int)


class NotHeld(Exception):
    """Another worker has the job, or it does not run (any more)."""


class Hold(Generic[Key]):
    """Of the row `pk` of `model`, which runs as long as its `status` is `running`; for as long as it exists if None."""

    def __init__(self, model: type[Model], pk: Key, running: str | None, at: datetime) -> None:
        self._rows = model._default_manager.filter(pk=pk)
        if running is not None:
            self._rows = self._rows.filter(status=running)
        self._name = f"The {model._meta.verbose_name} {pk}"
        self.pk: Key = pk
        self.at = at

    @classmethod
    def take(
        cls, model: type[Model], pk: Key, running: str | None, now: datetime, stale: timedelta | None = None
    ) -> "Hold[Key]":
        """`stale`: older marks are of the dead; null: `stale_after`. Raises NotHeld."""
        hold = cls(model, pk, running, now)
        free = Q(working_at=None) | Q(working_at__lt=now - (stale or stale_after()))
        if not hold._rows.filter(free).update(working_at=now):
            raise NotHeld(f"{hold._name} does not run, or another worker has it.")
        return hold

    def renew(self, now: datetime) -> None:
        """Raises NotHeld. A worker without the hold must send nothing, and must not write an outcome."""
        if not self._rows.filter(working_at=self.at).update(working_at=now):
            raise NotHeld(f"{self._name} was taken over by another worker.")
        self.at = now

    def leave(self) -> None:
        """Releases the hold, so that the next worker need not wait. Does nothing where another worker took over."""
        self._rows.filter(working_at=self.at).update(working_at=None)

    def renew_if_old(self, now: datetime) -> None:
        if now - self.at > FRESH:
            self.renew(now)


# How often a worker that waits shows that it lives, and for how long at most: each call that it waits for has its own
# deadline, and ten thousand of them far away take minutes.
BEAT_SECONDS = 5.0
KEPT_ALIVE_SECONDS = 300.0

Answer = TypeVar("Answer")


class NoEnd(WireClosed):
    """The request did not end, and its wire did not end it either: another wire may be asked."""


class WithHeartbeat(Protocol):
    """Runs what may take long while its worker shows that it lives: `keep_alive` of the worker's own hold."""

    def __call__(self, ask: Callable[[], Answer]) -> Answer: ...


def keep_alive(
    hold: Hold,
    clock: Callable[[], datetime],
    ask: Callable[[], Answer],
    *,
    beat_seconds: float = BEAT_SECONDS,
    longest_seconds: float = KEPT_ALIVE_SECONDS,
) -> Answer:
    """What `ask` returns or raises. It runs in a thread, so it must not touch the database.

    Raises NotHeld; NoEnd where `ask` lasts too long. Its thread is not waited for: the wire
    bounds it too.
    """
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="kept-alive")
    asked = thread.submit(ask)
    thread.shutdown(wait=False)
    for _ in range(math.ceil(longest_seconds / beat_seconds)):
        if wait([asked], beat_seconds).done:
            return asked.result(timeout=0)
        hold.renew(clock())
    raise NoEnd(f"the cluster gave no result within {longest_seconds:.3g} s")


def left_behind(model: type[Model], running: str, now: datetime) -> list[UUID]:
    """Running jobs that no living worker has: never taken up, or whose worker was not seen for a while."""
    long_ago = now - stale_after()
    lost = Q(working_at=None, started_at__lt=long_ago) | Q(working_at__lt=long_ago)
    rows = model._default_manager.filter(lost, status=running).order_by("started_at")
    return list(rows.values_list("pk", flat=True))


# SQLite: busy, locked, a disk that fails or is full, a file that cannot be opened. Extended codes have these as their
# lowest byte.
SQLITE_AWAY = frozenset({5, 6, 10, 13, 14})
# Classes of PostgreSQL: connection, transaction taken back, resources, somebody else's hold or end of it, system.
POSTGRES_AWAY = ("08", "40", "53", "55", "57", "58")


def is_database_away(error: BaseException | None) -> bool:
    """Drivers raise the same errors for questions that make no sense, so that the code of the cause decides."""
    cause = error.__cause__ if isinstance(error, (OperationalError, InterfaceError)) else None
    if cause is None:
        return False
    if isinstance(cause, sqlite3.Error):
        return (getattr(cause, "sqlite_errorcode", 0) & 0xFF) in SQLITE_AWAY
    # Without a connection nobody was there to give a state.
    state = getattr(cause, "sqlstate", None)
    return state is None or state.startswith(POSTGRES_AWAY)


# The connections of a long-lived worker, one wire per cluster, kept between tasks.
CONNECT_TRIES = 3

_wires: dict[str, tuple[list[object], Wire]] = {}

_guard = threading.Lock()


def connected(cluster: Cluster) -> Wire:
    """Returns the process's wire to a cluster. Raises NoAccess, WireClosed. A wire is replaced after a change of the
    cluster's registration, and after it was given up: callers that still wait for the old wire get WireClosed."""
    access = access_of(cluster, settings.SECRET_KEY)
    for tries_left in range(CONNECT_TRIES - 1, -1, -1):
        wire, replaced = _current(cluster)
        if replaced is not None:
            replaced.close()
        try:
            wire.use(access)
            break
        except WireClosed:
            # Another thread has replaced it in this very moment.
            if not tries_left:
                raise
    return wire


def _current(cluster: Cluster) -> tuple[Wire, Wire | None]:
    """With the wire that it replaces, to be closed: that takes a while, and other clusters' callers need not wait."""
    with _guard:
        registered, known = _wires.get(cluster.name, ([], None))
        if known is not None and known.usable and registered == registration(cluster):
            return known, None
        wire = Wire()
        _wires[cluster.name] = (registration(cluster), wire)
        return wire, known


def masters(cluster: Cluster, wire: Wire) -> dict[str, BrokerAdmin]:
    """By broker name, where the newest reading saw each: letters are read and sent at masters alone."""
    brokers = cluster.brokers.filter(broker_id=MASTER).exclude(address="").order_by("name")
    return {broker.name: BrokerAdmin(wire.pool, broker.address) for broker in brokers}


def without_address(cluster: Cluster) -> list[str]:
    """Brokers of which no reading has seen a master, only slaves: what their master holds cannot be asked for."""
    unknown = cluster.brokers.filter(broker_id=MASTER, address="")
    return list(unknown.order_by("name").values_list("name", flat=True))


def close_wires() -> None:
    with _guard:
        wires = [wire for _, wire in _wires.values()]
        _wires.clear()
    for wire in wires:
        wire.close()


# What a job reaches of a cluster: its masters by broker name, and its name servers.
TRIES, PAUSE_SECONDS = 3, 0.2


@dataclass(frozen=True)
class Ports:
    wire: Wire
    addresses: Mapping[str, str]
    name_servers: list[str]
    deadline_seconds: float = 5.0
    proxies: tuple[str, ...] = ()

    @classmethod
    def of(cls, cluster: Cluster, wire: Wire, deadline_seconds: float = 5.0) -> "Ports":
        masters = cluster.brokers.filter(broker_id=MASTER).exclude(address="")
        addresses = dict(masters.values_list("name", "address"))
        return cls(wire, addresses, cluster.name_servers, deadline_seconds, tuple(cluster.proxies))

    def admin(self, broker: str) -> BrokerAdmin | None:
        """Null for one that no reading has seen."""
        address = self.addresses.get(broker)
        return None if address is None else BrokerAdmin(self.wire.pool, address)

    def known(self, broker: str) -> BrokerAdmin:
        return BrokerAdmin(self.wire.pool, self.addresses[broker])

    def sends(self, broker: str) -> BrokerSends:
        return BrokerSends(self.wire.pool, self.addresses[broker])

    def writes(self, broker: str) -> OffsetWrites:
        return OffsetWrites(self.wire.pool, self.addresses[broker])

    async def route(self, topic: str) -> Route:
        """Raises RocketMQError."""
        return await NameServer(self.wire.pool, self.name_servers).route(topic, deadline_seconds=self.deadline_seconds)


async def reading(ask: Callable[[], Awaitable[Answer]]) -> Answer:
    """Asks again where a connection broke: a look may be repeated, unlike a send. Raises RocketMQError."""
    for _attempt in range(TRIES - 1):
        try:
            return await ask()
        except (Unreachable, NameServersFailed):
            await asyncio.sleep(PAUSE_SECONDS)
    return await ask()


@contextmanager
def reaching(problem: AnswerProblem) -> Iterator[None]:
    """What cannot be reached in the block is why there is no answer: `problem`, with its `error`."""
    try:
        yield
    except (NoAccess, RocketMQError) as error:
        raise AnswerFailed(problem, error=str(error)) from None


# The answer to whoever wants to write to a cluster that is marked read-only.
def why_read_only(cluster_name: str) -> str | None:
    """A sentence for whoever wanted to write; null where it may be written to."""
    return stored_words(read_only_reason(cluster_name))


def read_only_reason(cluster_name: str) -> str | None:
    """As it is stored."""
    marked = marked_by(cluster_name)
    if marked is None:
        return None
    if marked not in (cluster_name, ALL):
        return stored_reason(ReasonCode.READ_ONLY_BY_OTHER, cluster=cluster_name, marked=marked)
    return stored_reason(ReasonCode.CLUSTER_READ_ONLY, cluster=cluster_name)
