"""One broker's part of a reading: consumer offsets first, then broker offsets, so that lag is never too small.

Three calls on RocketMQ 5.3.2 and later, one of them for delay levels; configuration and min offsets come at a slower
cadence. Any failure is the broker's own: its part is then unknown as a whole, with the reason.
"""

import asyncio
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.polling.cadence import Cadence
from consumers.polling.delays.delay_offsets import read_delivered, take_level_ends
from consumers.polling.memory import BrokerMemory, ClusterMemory
from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.delay_levels import SCHEDULE_TOPIC
from consumers.rocketmq.errors import BrokerRefused, DeadlineExceeded, RemoteProtocolError, RocketMQError
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX
from consumers.rocketmq.offset_tables import BROKER_OFFSETS
from consumers.rocketmq.versions import BULK_OFFSETS_VERSION, mq_version_name

from .committed_pairs import listed_pairs
from .min_offsets import read_min_offsets, with_min_offsets
from .rows import join_rows

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
    """The deadline holds for each call, and twice of it for the broker's whole part."""
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
        # An offset that is gone is lost, or its topic or group was deleted: the broker's lists of this moment tell.
        if missing - known.missing:
            configured = await self._refresh_config(0)
        listed = listed_pairs(missing, known.groups, known.topics)
        subscribed = memory.subscriptions(known.topics, listed)
        wanted = topics | set(subscribed["topic"].to_pylist()) | {t for t in known.topics if t.startswith(DLQ_PREFIX)}
        asked = (wanted | {SCHEDULE_TOPIC}) & known.topics.keys()
        ends, level_ends = take_level_ends(await self._broker_offsets(sorted(asked)), keep=SCHEDULE_TOPIC in wanted)
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
            broadcasting=known.committed.broadcasting,
            appeared=() if before is None else _appeared(known.topics.keys() - before),
        )

    async def _refresh_config(self, seconds: float) -> bool:
        """Topics and groups, unless they are younger than `seconds`; says whether they were read."""
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
        """Raises RemoteProtocolError where a broker of another cluster got the address: it has none of our groups.

        A broker has a topic named as its cluster (5.4.0, TopicConfigManager): only one that lacks it is asked.
        """
        if self.cluster is None or self.cluster in topics:
            return
        try:
            config = await self.admin.config(deadline_seconds=self.deadline_seconds)
        except BrokerRefused:
            return
        if (told := config.get("brokerClusterName")) not in (None, self.cluster):
            # It is listed anew at the next reading too, whatever it is by then.
            self.known.configured_at = None
            raise RemoteProtocolError(
                f"a broker of the cluster {told} answers, and name servers tell this address of a broker of "
                f"{self.cluster}: see to whom the address belongs",
                address=self.admin.address,
            )

    async def _broker_offsets(self, topics: list[str]) -> pa.Table:
        if (self.admin.broker_version or 0) >= BULK_OFFSETS_VERSION:
            return await self.admin.broker_offsets(topics, deadline_seconds=self.deadline_seconds)
        answers = await asyncio.gather(
            *(self.admin.broker_offsets_of(topic, deadline_seconds=self.deadline_seconds) for topic in topics)
        )
        return pa.concat_tables([BROKER_OFFSETS.empty_table(), *answers]).unify_dictionaries()


def _appeared(topics: Iterable[str]) -> tuple[str, ...]:
    """Those whose messages are counted from the first on."""
    return tuple(sorted(topic for topic in topics if topic.startswith((RETRY_PREFIX, DLQ_PREFIX))))


async def _joined(offsets: pa.Table, ends: pa.Table, subscribed: pa.Table, read_queues: dict[str, int]) -> pa.Table:
    """In a thread where it takes a while, so that one broker's rows do not hold up the answers of the others."""
    if offsets.num_rows < JOINED_AT_ONCE:
        return join_rows(offsets, ends, subscribed, read_queues)
    return await asyncio.to_thread(join_rows, offsets, ends, subscribed, read_queues)
