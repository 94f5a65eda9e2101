"""What is asked of a broker at a slow cadence: min offsets, store settings, routed permissions."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.encoded import encoded
from consumers.polling.brokers.joined import QUEUE_BITS, QUEUE_MASK, codes, distinct_sorted, queue_ids
from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.fields import count_of
from consumers.rocketmq.name_server import NameServer
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.vocabulary.times import microseconds

# The min offsets of one broker's queues, as far as they were fetched, and when, as sorted columns.
NEVER = np.iinfo(np.int64).min


@dataclass
class MinOffsets:
    """One row per queue of the broker, by key: place of the topic in `topics` << 20 | queue id.

    `asked_at` is the time at which the value was read, in microseconds since 1970, or NEVER. `ends` is the broker
    offset that was last seen, or NEVER.
    """

    topics: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    keys: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    values: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    asked_at: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    ends: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def settle(self, queues: pa.Table) -> None:
        """Adds the queues of `queues` (topic, queue_id) and forgets all others."""
        topics = encoded(queues["topic"])
        keys = distinct_sorted(codes(topics, topics.dictionary) << QUEUE_BITS | queue_ids(queues))
        old, remembered = self._places(keys, topics.dictionary)
        none = (0, NEVER, NEVER)
        if len(self.keys):
            columns = zip((self.values, self.asked_at, self.ends), none, strict=True)
            self.values, self.asked_at, self.ends = (np.where(remembered, column[old], one) for column, one in columns)
        else:
            self.values, self.asked_at, self.ends = (np.full(len(keys), one, np.int64) for one in none)
        self.topics, self.keys = topics.dictionary, keys

    def doubt(self, ends: pa.Table) -> None:
        """Forgets each min offset that dates from before the topic was created again: it lies beyond the end of its
        queue, or that end went back. Remembers the ends.
        """
        if not len(self.keys):
            return
        topic = codes(encoded(ends["topic"]), self.topics)
        at, found = _find(self.keys, topic << QUEUE_BITS | queue_ids(ends))
        known, end = found & (topic >= 0), ends["broker_offset"].to_numpy()
        doubted = known & ((self.values[at] > end) | (self.ends[at] > end))
        self.asked_at[at[doubted]] = NEVER
        self.ends[at[known]] = end[known]

    def note(self, places: np.ndarray, answers: Sequence[int], now: datetime) -> None:
        self.values[places] = answers
        self.asked_at[places] = microseconds(now)

    def names(self, places: np.ndarray) -> list[tuple[str, int]]:
        """Topic and queue id of the rows at these places."""
        keys = self.keys[places]
        topics = self.topics.take(pa.array(keys >> QUEUE_BITS)).to_pylist()
        return list(zip(topics, (keys & QUEUE_MASK).tolist(), strict=True))

    def of(self, table: pa.Table) -> pa.Array:
        """The min offset of each row of `table` (topic, queue_id), null where it was never read."""
        if not len(self.keys):
            return pa.nulls(table.num_rows, pa.int64())
        topics = encoded(table["topic"])
        topic = codes(topics, self.topics)
        at, found = _find(self.keys, topic << QUEUE_BITS | queue_ids(table))
        known = found & (topic >= 0) & (self.asked_at[at] != NEVER)
        return pa.array(self.values[at], mask=~known)

    def lagging(self, rows: pa.Table) -> np.ndarray:
        """Which queues have lag for any group of `rows` (topic, queue_id, consumer_offset, broker_offset)."""
        lag = pc.fill_null(pc.less(rows["consumer_offset"], rows["broker_offset"]), False).to_numpy()
        wanted = codes(encoded(rows["topic"]), self.topics)[lag] << QUEUE_BITS | queue_ids(rows)[lag]
        marked = np.zeros(len(self.keys), bool)
        if len(self.keys):
            at, found = _find(self.keys, wanted)
            marked[at[found]] = True
        return marked

    def _places(self, keys: np.ndarray, topics: pa.Array) -> tuple[np.ndarray, np.ndarray]:
        """The place of each key, coded by `topics`, in the present columns, and whether the key is there."""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        before = pc.index_in(topics, value_set=self.topics).fill_null(-1).to_numpy().astype(np.int64)
        topic = before[keys >> QUEUE_BITS]
        at, found = _find(self.keys, topic << QUEUE_BITS | (keys & QUEUE_MASK))
        return at, found & (topic >= 0)


def _find(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


# How long brokers retain messages and whether they accept any, by their own configuration: one call, at a slow cadence.
#
# A broker that refuses the question (its ACL may) is still polled: what it does not report is unknown.
LONGEST = 1000


@dataclass(frozen=True)
class StoreConfig:
    """`permission` is a sum of 4 (read) and 2 (write). If `error` is set, no other field counts."""

    broker: str
    file_reserved_hours: int | None = None
    delete_when: str | None = None
    disk_max_used_percent: int | None = None
    permission: int | None = None
    delay_levels: str | None = None
    flush_offsets_ms: int | None = None
    error: str | None = None


@dataclass
class StoreConfigMemory:
    """When each broker was last asked, by name."""

    every_seconds: float
    asked_at: dict[str, datetime] = field(default_factory=dict)

    def due(self, brokers: Sequence[BrokerReading], now: datetime) -> list[tuple[str, str]]:
        """Names and addresses of masters that were read. They count as asked from now on."""
        found = []
        for broker in brokers:
            asked = self.asked_at.get(broker.name)
            is_due = asked is None or now - asked >= timedelta(seconds=self.every_seconds)
            if broker.read and broker.read_from is None and broker.address and is_due:
                self.asked_at[broker.name] = now
                found.append((broker.name, broker.address))
        return found


async def read_store_configs(
    pool: ConnectionPool, brokers: Sequence[tuple[str, str]], deadline_seconds: float
) -> list[StoreConfig]:
    async def ask(name: str, address: str) -> StoreConfig:
        try:
            return store_config(name, await BrokerAdmin(pool, address).config(deadline_seconds=deadline_seconds))
        except RocketMQError as error:
            return StoreConfig(name, error=str(error))

    return list(await asyncio.gather(*(ask(name, address) for name, address in brokers)))


def store_config(broker: str, config: Mapping[str, str]) -> StoreConfig:
    """Names as in RocketMQ 5.4.0, MessageStoreConfig and BrokerConfig."""
    return StoreConfig(
        broker,
        file_reserved_hours=count_of(config.get("fileReservedTime")),
        delete_when=config.get("deleteWhen"),
        disk_max_used_percent=_disk_limit(count_of(config.get("diskMaxUsedSpaceRatio"))),
        permission=count_of(config.get("brokerPermission")),
        delay_levels=_short(config.get("messageDelayLevel")),
        flush_offsets_ms=count_of(config.get("flushConsumerOffsetInterval")),
    )


def _disk_limit(percent: int | None) -> int | None:
    """A broker never takes less than 10 or more than 95 (5.4.0, MessageStoreConfig.getDiskMaxUsedSpaceRatio)."""
    return None if percent is None else min(max(percent, 10), 95)


def _short(text: str | None) -> str | None:
    """None for a text that is too long: a part of a list would be another list."""
    return text if text is not None and len(text) <= LONGEST else None


# The permission of each broker that name servers report to clients. Name servers can remove the write permission
# without the broker's knowledge.
#
# Name servers hold a permission for every topic of every broker; `wipeWritePerm` removes the write permission from all
# topics of a broker at once (RocketMQ 5.4.0, RouteInfoManager.operateWritePermOfBroker). SELF_TEST_TOPIC exists on
# every broker with 6 and cannot be configured (TopicConfigManager). Its route therefore shows the present permission,
# with one call whatever the number of brokers.
ON_EVERY_BROKER = "SELF_TEST_TOPIC"

READ_OR_WRITE = 6  # PermName; 1, inherit, says nothing here


@dataclass(frozen=True)
class RoutedPermission:
    """`permission` is a sum of 4 (read) and 2 (write). If `error` is set, no other field counts."""

    broker: str
    permission: int | None = None
    error: str | None = None


async def read_routed_permissions(
    pool: ConnectionPool, name_servers: Sequence[str], brokers: Iterable[str], deadline_seconds: float
) -> list[RoutedPermission]:
    """One for each of `brokers`."""
    try:
        route = await NameServer(pool, name_servers).route(ON_EVERY_BROKER, deadline_seconds=deadline_seconds)
    except RocketMQError as error:
        return [RoutedPermission(broker, error=str(error)) for broker in brokers]
    permissions = {queues.broker: queues.perm & READ_OR_WRITE for queues in route.queues}
    absent = stored_reason(PollProblem.NO_ROUTE, topic=ON_EVERY_BROKER)
    return [
        RoutedPermission(broker, permissions[broker])
        if broker in permissions
        else RoutedPermission(broker, error=absent)
        for broker in brokers
    ]
