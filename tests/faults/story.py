"""Real consumers on two real brokers, of whom it is known how they are doing: the truth that the site is held against.

`busy` consumes what comes; `stuck` has one member whose handlers never end; `still` has lag and no member. `pulse` has
no member either: its lag rises and falls as a test wants, for an alert of its own.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from consumers.rocketmq.admin import QueueCalls
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.writes import BrokerSends, OffsetWrites, Outgoing
from dashboard.demo.cluster import RocketMQ
from tests.consumers.alerting.traffic import Traffic
from tests.plugins.counting_consumers import CountingConsumers
from tests.plugins.java_admin import JavaAdmin

Answer = TypeVar("Answer")
# The broker that faults are made with, and the one that is left alone.
VICTIM, SUPPRESSED = "broker-a", "broker-b"
BUSY, STUCK, STILL, PULSE = (f"faults-{name}" for name in ("busy", "stuck", "still", "pulse"))
PULSE_MESSAGES = 100
# In each of its two queues, one a broker.
STUCK_MESSAGES, STILL_MESSAGES = 29, 31


@dataclass(frozen=True)
class Truth:
    """Of a group at rest. `lag` None: it changes all the time."""

    state: str
    lag: int | None
    members: int


TRUTH = {
    BUSY: Truth("OK", None, 1),
    STUCK: Truth("STALL", 2 * STUCK_MESSAGES, 1),
    STILL: Truth("STOP", 2 * STILL_MESSAGES, 0),
}


def topic_of(group: str) -> str:
    return group.title().replace("-", "")


class Story:
    def __init__(self, cluster: RocketMQ) -> None:
        self.cluster = cluster
        self.pulse_end = 0

    def raise_pulse(self) -> None:
        """A hundred messages that nobody consumes."""

        async def send(pool: ConnectionPool) -> None:
            sends = BrokerSends(pool, self.cluster.brokers[SUPPRESSED].address)
            message = Outgoing(b"pulse", "", flag=0, sys_flag=0, born_ms=int(time.time() * 1000))
            for _ in range(PULSE_MESSAGES):
                await sends.send(topic_of(PULSE), 0, message)

        self._run(send)
        self.pulse_end += PULSE_MESSAGES

    def lower_pulse(self) -> None:
        """As if all of them had been consumed."""

        async def commit(pool: ConnectionPool) -> None:
            writes = OffsetWrites(pool, self.cluster.brokers[SUPPRESSED].address)
            await writes.commit(PULSE, topic_of(PULSE), 0, self.pulse_end)

        self._run(commit)

    def committed(self, group: str, broker: str, queue_id: int) -> int | None:
        """Where the broker itself says that the group stands."""

        async def ask(pool: ConnectionPool) -> int | None:
            queues = QueueCalls(pool, self.cluster.brokers[broker].address)
            return await queues.consumer_offset(group, topic_of(group), queue_id)

        return self._run(ask)

    def commit(self, group: str, broker: str, offset: int) -> None:
        async def write(pool: ConnectionPool) -> None:
            await OffsetWrites(pool, self.cluster.brokers[broker].address).commit(group, topic_of(group), 0, offset)

        self._run(write)

    def _run(self, use: Callable[[ConnectionPool], Awaitable[Answer]]) -> Answer:
        async def main() -> Answer:
            async with ConnectionPool() as pool:
                return await use(pool)

        return asyncio.run(main())


@contextmanager
def told_story(cluster: RocketMQ, jars: Path, folder: Path) -> Iterator[Story]:
    """Everybody is at work, and has been for long enough that brokers have written down where they stand."""
    with contextlib.ExitStack() as kept:
        admin = kept.enter_context(JavaAdmin(cluster, jars, "faults-admin"))
        held = kept.enter_context(JavaAdmin(cluster, jars, "faults-held"))
        for group in (BUSY, STUCK, STILL, PULSE):
            admin.create_group(group)
        admin.create_topic(topic_of(BUSY), 2)
        for group, messages in ((STUCK, STUCK_MESSAGES), (STILL, STILL_MESSAGES)):
            admin.create_topic(topic_of(group), 1)
            for broker in cluster.brokers:
                admin.send(topic_of(group), broker, 0, messages)
        admin.create_topic(topic_of(PULSE), 1, SUPPRESSED)
        story = Story(cluster)
        for broker in cluster.brokers:
            story.commit(STUCK, broker, 0)
            story.commit(STILL, broker, 0)
        story.commit(PULSE, SUPPRESSED, 0)
        # All faults take longer than RocketMQ lets a handler: its messages would come once more, as retries.
        held.start_consumer(STUCK, topic_of(STUCK), "stuck", consume="held", threads=2, timeout_minutes=24 * 60)
        busy = {"group": BUSY, "topic": topic_of(BUSY), "instance": "busy", "commit_milliseconds": 1000, "threads": 4}
        kept.enter_context(
            CountingConsumers(cluster.namesrv, jars, folder / "busy", [{**busy, "seconds": [0.0, 0.001]}])
        )
        kept.enter_context(Traffic(admin, [topic_of(BUSY)], SUPPRESSED, 2, 4, outages=True))
        yield story
