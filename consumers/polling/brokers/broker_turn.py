"""A broker's turn in a reading: skipped while its circuit is open, a probe first after failures, its slave as stand-in.

A slave's consumer offsets may be a minute old: see record/lost_offsets.
"""

import asyncio
import random
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.polling.delay_answers import read_delivered, take_level_ends
from consumers.polling.memory import BrokerMemory, Cadence, ClusterMemory
from consumers.polling.reading import BrokerCost, BrokerListing, BrokerReading, OffsetsReading
from consumers.rocketmq.admin import BrokerAdmin, NameServer
from consumers.rocketmq.bodies.config_bodies import SCHEDULE_TOPIC
from consumers.rocketmq.bodies.offsets import BROKER_OFFSETS
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX
from consumers.rocketmq.wire.codes import (
    BULK_OFFSETS_VERSION,
    BrokerRefused,
    DeadlineExceeded,
    RemoteProtocolError,
    RocketMQError,
    mq_version_name,
)
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.vocabulary.states import MASTER
from consumers.vocabulary.times import microseconds

from .joined import QUEUE_BITS, join_rows, listed_pairs
from .remembered import NEVER, MinOffsets

# Min offsets, under a budget: queues with lag and dead-letter queues first; then the queues not asked for the longest
# time.

IDLE_FACTOR = 10  # queues without lag are asked so much more seldom
SECOND = 1_000_000


async def read_min_offsets(
    admin: BrokerAdmin,
    known: MinOffsets,
    rows: pa.Table,
    ends: pa.Table,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> None:
    """Asks for the min offsets that are due and remembers them. If an answer fails, the queue keeps its value, or stays
    without one.
    """
    known.settle(ends)
    known.doubt(ends)
    due = plan(known, rows, cadence, now)
    if not len(due):
        return
    answers = await admin.min_offsets(known.names(due), deadline_seconds=deadline_seconds)
    read = [isinstance(answer, int) for answer in answers]
    known.note(due[np.array(read)], [answer for answer in answers if isinstance(answer, int)], now)


def plan(known: MinOffsets, rows: pa.Table, cadence: Cadence, now: datetime) -> np.ndarray:
    """The places of the queues to ask for, in the order of asking."""
    dead = pc.starts_with(known.topics, DLQ_PREFIX).to_numpy(zero_copy_only=False)
    urgent = known.lagging(rows)
    urgent |= dead[known.keys >> QUEUE_BITS] if len(dead) else urgent
    never = known.asked_at == NEVER
    age = np.where(never, np.iinfo(np.int64).max, microseconds(now) - np.where(never, 0, known.asked_at))
    interval = cadence.min_offset_seconds * SECOND
    due = np.flatnonzero(age >= np.where(urgent, interval, IDLE_FACTOR * interval))
    order = np.lexsort((-age[due], ~urgent[due]))
    return due[order][: cadence.min_offset_calls]


def with_min_offsets(table: pa.Table, known: MinOffsets) -> pa.Table:
    """`table` (topic, queue_id, …) with `min_offset`, null where it was never read."""
    return table.append_column("min_offset", known.of(table))


# One broker's part of a reading: consumer offsets first, then broker offsets, so that lag is never too small.
# RocketMQ 5.3.2 and later need four calls: one of them is for delay levels, and one for what is not dispatched yet,
# asked together with broker offsets. Configuration and min offsets come at a slower cadence. Any failure is the
# broker's own: its complete part is then unknown, with the reason.

JOINED_AT_ONCE = 20_000


async def read_broker(
    admin: BrokerAdmin,
    name: str,
    memory: ClusterMemory,
    known: BrokerMemory,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> BrokerReading:
    """The deadline applies to each call, and twice the deadline to the broker's complete part."""
    part = _Part(admin, memory.clusters.get(name), known, cadence, now, deadline_seconds)
    cause: RocketMQError
    try:
        async with asyncio.timeout(2 * deadline_seconds):
            return await part.read(name, memory)
    except TimeoutError:
        cause = DeadlineExceeded(f"not read whole within {2 * deadline_seconds:g} s", address=admin.address)
    except RocketMQError as failure:
        cause = failure
    return BrokerReading(name=name, address=admin.address, error=str(cause), cause=cause, version=part.known.version)


@dataclass(frozen=True)
class _Part:
    admin: BrokerAdmin
    cluster: str | None
    known: BrokerMemory
    cadence: Cadence
    now: datetime
    deadline_seconds: float

    async def read(self, name: str, memory: ClusterMemory) -> BrokerReading:
        known = self.known
        before = known.topics.keys() if known.configured_at is not None else None
        configured = await self._refresh_config(self.cadence.config_seconds)
        offsets, delays = await asyncio.gather(
            self.admin.consumer_offsets(parse=known.consumer_offsets, deadline_seconds=self.deadline_seconds),
            read_delivered(self.admin, self.deadline_seconds),
        )
        topics = set(pc.unique(offsets["topic"]).to_pylist())
        if not configured and topics - known.topics.keys():
            configured = await self._refresh_config(0)
        known.committed.take(offsets)
        missing = memory.committed.get(name, frozenset()) - known.committed.pairs
        # A missing offset is either lost, or its topic or group was deleted: the broker's present lists decide. A slave
        # may not have received a new topic or group of its master yet.
        if missing - known.missing:
            configured = await self._refresh_config(0)
        listed = listed_pairs(missing, known.groups, known.topics)
        subscribed = memory.subscriptions(known.topics, listed)
        wanted = topics | set(subscribed["topic"].to_pylist()) | {t for t in known.topics if t.startswith(DLQ_PREFIX)}
        asked = (wanted | {SCHEDULE_TOPIC}) & known.topics.keys()
        found, dispatch = await asyncio.gather(
            self._broker_offsets(sorted(asked)), known.dispatch.read(self.admin, self.now, self.deadline_seconds)
        )
        self._check_name(name, found)
        ends, level_ends = take_level_ends(found, keep=SCHEDULE_TOPIC in wanted)
        rows = await _joined(offsets, ends, subscribed, known.read_queues)
        await read_min_offsets(self.admin, known.min_offsets, rows, ends, self.cadence, self.now, self.deadline_seconds)
        known.missing = missing
        # A slave may not have been told yet of a topic or group that its master has.
        memory.committed[name] = known.committed.pairs | (missing if memory.is_slave(known) else listed)
        dead = ends.filter(pc.starts_with(ends["topic"].cast(pa.string()), DLQ_PREFIX))
        return BrokerReading(
            name=name,
            address=self.admin.address,
            version=known.version,
            rows=with_min_offsets(rows, known.min_offsets),
            dead_letters=with_min_offsets(dead.select(["topic", "queue_id", "broker_offset"]), known.min_offsets),
            topics=tuple(known.topics.values()) if configured else None,
            groups=tuple(known.groups.values()) if configured else None,
            delays=replace(delays, ends=level_ends),
            dispatch=dispatch,
            broadcasting=known.committed.broadcasting,
            appeared=() if before is None else _appeared(known.topics.keys() - before),
        )

    async def _refresh_config(self, seconds: float) -> bool:
        """Reads topics and groups unless they are younger than `seconds`; returns whether they were read."""
        known = self.known
        if known.configured_at is not None and self.now - known.configured_at < timedelta(seconds=seconds):
            return False
        topics, groups = await asyncio.gather(
            self.admin.topics(deadline_seconds=self.deadline_seconds),
            self.admin.groups(deadline_seconds=self.deadline_seconds),
        )
        await self._check_cluster({topic.name for topic in topics.topics})
        known.topics = {topic.name: topic for topic in topics.topics}
        known.groups = {group.name: group for group in groups.groups}
        # Every answer carries the version; a broker that has just started cannot yet answer GET_BROKER_RUNTIME_INFO.
        known.version = mq_version_name(self.admin.broker_version) if self.admin.broker_version else None
        known.configured_at = self.now
        return True

    async def _check_cluster(self, topics: Container[str]) -> None:
        """Raises RemoteProtocolError if a broker of another cluster now has this address: it has none of our groups.

        A broker has a topic named after its cluster (5.4.0, TopicConfigManager): only a broker without that topic is
        asked.
        """
        if self.cluster is None or self.cluster in topics:
            return
        try:
            config = await self.admin.config(deadline_seconds=self.deadline_seconds)
        except BrokerRefused:
            return
        if (name := config.get("brokerClusterName")) not in (None, self.cluster):
            raise self._another(
                f"a broker of the cluster {name} answers, and name servers tell this address of a broker of "
                f"{self.cluster}: see to whom the address belongs"
            )

    def _check_name(self, name: str, ends: pa.Table) -> None:
        """Raises RemoteProtocolError if a broker of another name now has this address: its queues are counted under
        that name.
        """
        if others := set(pc.unique(ends["broker"]).to_pylist()) - {name}:
            raise self._another(f"the broker {min(others)} answers, and this was the address of {name}")

    def _another(self, words: str) -> RemoteProtocolError:
        # The next reading fetches topics and groups again, whichever broker has the address by then.
        self.known.configured_at = None
        return RemoteProtocolError(words, address=self.admin.address)

    async def _broker_offsets(self, topics: list[str]) -> pa.Table:
        if (self.admin.broker_version or 0) >= BULK_OFFSETS_VERSION:
            return await self.admin.broker_offsets(topics, deadline_seconds=self.deadline_seconds)
        answers = await asyncio.gather(
            *(self.admin.broker_offsets_of(topic, deadline_seconds=self.deadline_seconds) for topic in topics)
        )
        return pa.concat_tables([BROKER_OFFSETS.empty_table(), *answers]).unify_dictionaries()


def _appeared(topics: Iterable[str]) -> tuple[str, ...]:
    """Topics whose messages are counted from the first one on."""
    return tuple(sorted(topic for topic in topics if topic.startswith((RETRY_PREFIX, DLQ_PREFIX))))


async def _joined(offsets: pa.Table, ends: pa.Table, subscribed: pa.Table, read_queues: dict[str, int]) -> pa.Table:
    """Joins large tables in a thread, so that one broker's rows do not delay the answers of the others."""
    if offsets.num_rows < JOINED_AT_ONCE:
        return join_rows(offsets, ends, subscribed, read_queues)
    return await asyncio.to_thread(join_rows, offsets, ends, subscribed, read_queues)


@dataclass(frozen=True)
class Turn:
    """What one reading gives to each of its brokers."""

    pool: ConnectionPool
    memory: ClusterMemory
    cadence: Cadence
    now: datetime
    deadline_seconds: float

    async def read(self, name: str, master: str | None, slaves: Sequence[str]) -> BrokerReading:
        """The master's part, or its slave's, with its cost."""
        clock = asyncio.get_running_loop().time
        addresses = [address for address in (master, *slaves) if address]
        began, before = clock(), self._spent(addresses)
        part = await self._read_either(name, master, slaves)
        spent = self._spent(addresses)
        cost = BrokerCost(spent[0] - before[0], spent[1] - before[1], clock() - began)
        return replace(part, cost=cost)

    def _spent(self, addresses: Sequence[str]) -> tuple[int, int]:
        spent = [self.pool.spent(address) for address in addresses]
        return sum(each.calls for each in spent), sum(each.bytes_received for each in spent)

    async def _read_either(self, name: str, master: str | None, slaves: Sequence[str]) -> BrokerReading:
        """The master's part. If the master gives none: the part of the first slave that answers, marked as such."""
        part = await self._read_master(name, master)
        for address in slaves if not part.read else ():
            known = self.memory.slaves.setdefault(address, BrokerMemory(address))
            found = await self._read(name, known)
            if found.read:
                # The slave stands in for the master.
                return replace(
                    found, address=part.address, version=None, read_from=found.address, master_error=part.error
                )
        return part

    async def _read_master(self, name: str, address: str | None) -> BrokerReading:
        if address is None:
            return BrokerReading(
                name=name, address=None, error=stored_reason(PollProblem.NO_MASTER_LISTED, broker=name)
            )
        return await self._read(name, self.memory.broker(name, address))

    async def _read(self, name: str, known: BrokerMemory) -> BrokerReading:
        circuit = self.memory.circuit(known.address)
        if (reason := circuit.not_asked(self.now)) is not None:
            return BrokerReading(name=name, address=known.address, error=reason, version=known.version)
        admin = BrokerAdmin(self.pool, known.address)
        if circuit.is_open and (failure := await self._probe(admin)) is not None:
            error = circuit.note(failure, self.now, random.random())
            return BrokerReading(name=name, address=known.address, error=error, version=known.version)
        part = await read_broker(admin, name, self.memory, known, self.cadence, self.now, self.deadline_seconds)
        error = circuit.note(part.cause, self.now, random.random())
        return replace(part, error=error) if error is not None else part

    async def _probe(self, admin: BrokerAdmin) -> RocketMQError | None:
        """One answer from memory, of some hundred bytes. A refusal counts as an answer."""
        try:
            await admin.delay_offsets(deadline_seconds=self.deadline_seconds)
        except BrokerRefused:
            return None
        except RocketMQError as failure:
            return failure
        return None


async def collect_offsets(
    pool: ConnectionPool,
    cluster: str,
    name_servers: list[str],
    memory: ClusterMemory,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> OffsetsReading:
    """Reads every broker that answers. A failure is stored in the reading as an error, never as a number."""
    clock = asyncio.get_running_loop().time
    began, calls, read = clock(), pool.calls, pool.bytes_received
    try:
        listed = await _list_brokers(pool, name_servers, memory, deadline_seconds)
        error = None if listed else stored_reason(PollProblem.NO_BROKER_KNOWN)
    except RocketMQError as failure:
        listed, error = (), str(failure)
    turn = Turn(pool, memory, cadence, now, deadline_seconds)
    names = sorted({broker.name for broker in listed} | memory.brokers.keys())
    parts = await asyncio.gather(*(_read_broker(turn, name, listed) for name in names))
    return OffsetsReading(
        cluster=cluster,
        taken_at=now,
        brokers=tuple(parts),
        listed=listed,
        calls=pool.calls - calls,
        bytes=pool.bytes_received - read,
        seconds=clock() - began,
        error=error,
    )


def unreadable(cluster: str, memory: ClusterMemory, reason: str, now: datetime) -> OffsetsReading:
    """The reading of a cluster that cannot be contacted."""
    brokers = [BrokerReading(name, known.address, error=reason) for name, known in sorted(memory.brokers.items())]
    return OffsetsReading(
        cluster=cluster, taken_at=now, brokers=tuple(brokers), listed=(), calls=0, bytes=0, seconds=0.0, error=reason
    )


async def _list_brokers(
    pool: ConnectionPool, addresses: list[str], memory: ClusterMemory, deadline_seconds: float
) -> tuple[BrokerListing, ...]:
    """The name server that answered last is asked first: a dead name server costs its share of the deadline only
    once.
    """
    name_server = NameServer(pool, sorted(addresses, key=lambda address: address != memory.name_server))
    info = await name_server.cluster(deadline_seconds=deadline_seconds)
    memory.name_server = name_server.answered_by
    memory.clusters |= {broker.name: broker.cluster for broker in info.brokers if broker.cluster}
    memory.note_listed(address for broker in info.brokers for address in broker.addresses.values())
    return tuple(
        BrokerListing(broker.name, broker_id, address, broker.cluster)
        for broker in info.brokers
        for broker_id, address in sorted(broker.addresses.items())
    )


async def _read_broker(turn: Turn, name: str, listed: tuple[BrokerListing, ...]) -> BrokerReading:
    """A master that the name server no longer lists (it lists living brokers only) is asked at its last address."""
    named = [broker for broker in listed if broker.name == name]
    masters = [broker.address for broker in named if broker.broker_id == MASTER]
    known = turn.memory.brokers.get(name)
    master = masters[0] if masters else known.address if known else None
    return await turn.read(name, master, [broker.address for broker in named if broker.broker_id != MASTER])
