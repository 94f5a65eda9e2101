"""One broker's part of a reading: consumer offsets first, then broker offsets, so that lag is never too small.

Two calls on RocketMQ 5.3.2 and later; configuration and min offsets come at a slower cadence. Any failure is the
broker's own: its part is then unknown as a whole, with the reason.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.names import DLQ_PREFIX

from .memory import BrokerMemory, ClusterMemory
from .min_offsets import read_min_offsets, with_min_offsets
from .reading import BrokerReading
from .rows import join_rows

BULK_SINCE = (5, 3, 2)


@dataclass(frozen=True)
class Cadence:
    """How often slow things are asked, and how many calls min offsets may cost a reading."""

    config_seconds: float
    min_offset_seconds: float
    min_offset_calls: int = 500


async def read_broker(
    admin: BrokerAdmin, name: str, memory: ClusterMemory, cadence: Cadence, now: datetime
) -> BrokerReading:
    known = memory.broker(name, admin.address)
    try:
        return await _read(admin, name, memory, known, cadence, now)
    except RocketMQError as error:
        return BrokerReading(name=name, address=admin.address, error=str(error), version=known.version)


async def _read(
    admin: BrokerAdmin, name: str, memory: ClusterMemory, known: BrokerMemory, cadence: Cadence, now: datetime
) -> BrokerReading:
    configured = await _refresh_config(admin, known, cadence, now)
    offsets = await admin.consumer_offsets()
    topics = set(pc.unique(offsets["topic"]).to_pylist())
    if not configured and topics - known.topics.keys():
        configured = await _refresh_config(admin, known, Cadence(0, 0), now)
    subscribed = memory.subscriptions(known.topics)
    wanted = topics | set(subscribed["topic"].to_pylist()) | {t for t in known.topics if t.startswith(DLQ_PREFIX)}
    ends = await _broker_offsets(admin, known, sorted(wanted & known.topics.keys()))
    rows = join_rows(offsets, ends, subscribed, known.read_queues)
    await read_min_offsets(admin, known, rows, ends, cadence.min_offset_seconds, cadence.min_offset_calls, now)
    dead = ends.filter(pc.starts_with(ends["topic"].cast(pa.string()), DLQ_PREFIX))
    return BrokerReading(
        name=name,
        address=admin.address,
        version=known.version,
        rows=with_min_offsets(rows, known),
        dead_letters=with_min_offsets(dead, known),
        topics=tuple(known.topics.values()) if configured else None,
        groups=tuple(known.groups.values()) if configured else None,
    )


async def _refresh_config(admin: BrokerAdmin, known: BrokerMemory, cadence: Cadence, now: datetime) -> bool:
    age = timedelta.max if known.configured_at is None else now - known.configured_at
    if age < timedelta(seconds=cadence.config_seconds):
        return False
    topics, groups = await admin.topics(), await admin.groups()
    known.topics = {topic.name: topic for topic in topics.topics}
    known.groups = {group.name: group for group in groups.groups}
    known.version = (await admin.runtime()).get("brokerVersionDesc")
    known.configured_at = now
    return True


async def _broker_offsets(admin: BrokerAdmin, known: BrokerMemory, topics: list[str]) -> pa.Table:
    if _version(known.version) >= BULK_SINCE:
        return await admin.broker_offsets(topics)
    return pa.concat_tables([await admin.broker_offsets_of(topic) for topic in topics] or [_no_offsets()])


def _no_offsets() -> pa.Table:
    return pa.table(
        {
            "topic": pa.array([], pa.string()),
            "queue_id": pa.array([], pa.int32()),
            "broker_offset": pa.array([], pa.int64()),
        }
    )


def _version(text: str | None) -> tuple[int, ...]:
    """`V5_4_0` → (5, 4, 0); what is not such a name counts as old, which costs calls but reads the same."""
    parts = (text or "").removeprefix("V").split("_")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()
