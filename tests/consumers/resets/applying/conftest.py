"""A worker's surroundings: two brokers on sockets, their cluster in rows, a clock that only moves when told to."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from consumers.jobs.hold import Ports
from consumers.models import ConsumerGroup, Reset, ResetKind, ResetMethod, ResetStatus
from consumers.polling.registration import Wire
from consumers.resets.applying.run import work
from tests.consumers.resets.applying.fake_offsets import GROUP, FakeOffsets
from tests.consumers.rocketmq.fake_server import served
from tests.fake_clock import FakeClock
from tests.reset_rows import a_reset, a_reset_queue, an_operator
from tests.world import NOW, a_broker, a_cluster, a_group


@dataclass
class Site:
    """`brokers` by name; each has the queues 0 and 1, at 500 and 501, of a group without members."""

    brokers: dict[str, FakeOffsets]
    ports: Ports
    group: ConsumerGroup

    def applying(self, target: int = 300, method: ResetMethod = ResetMethod.SERVER, **fields: Any) -> Reset:
        """A reset of every queue, planned by what the brokers hold, that waits for its worker."""
        said = {"status": ResetStatus.APPLYING, "started_at": NOW, "seen": self.seen(), "kind": ResetKind.OFFSET}
        said |= {"applied_by": an_operator(), "applied_by_name": "ann"}
        reset = a_reset(self.group, **{**said, "value": target, **fields})
        for name, broker in self.brokers.items():
            for queue_id, offset in broker.offsets.items():
                queue = {"broker": name, "now_offset": offset, "target": target, "max_offset": broker.end}
                a_reset_queue(reset, queue_id, method=method, min_offset=0, **queue)
        return reset

    def seen(self) -> dict[str, Any]:
        first = next(iter(self.brokers.values()))
        brokers = {
            name: {
                "version": None,
                "server_side": broker.server_side,
                "permission": broker.permission,
                "address": broker.address,
            }
            for name, broker in self.brokers.items()
        }
        is_online = bool(first.members)
        model, way = ("CLUSTERING", "CONSUME_PASSIVELY") if is_online else (None, None)
        members = list(first.members)
        return {"members": members, "message_model": model, "consume_type": way, "orderly": None, "brokers": brokers}

    def work(self, reset: Reset, clock: FakeClock) -> None:
        work(reset.pk, self.ports, clock, clock.pause)
        reset.refresh_from_db()

    def offsets(self) -> list[int]:
        return [offset for broker in self.brokers.values() for _, offset in sorted(broker.offsets.items())]

    def writes(self) -> int:
        return sum(len(broker.writes) for broker in self.brokers.values())


def steps(reset: Reset) -> list[str]:
    """Of each queue its outcome, else how far it came; by broker and queue."""
    rows = reset.queues_of_it.order_by("broker", "queue_id").values_list("outcome", "step")
    return [outcome or step for outcome, step in rows]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def site(db: None, settings: Any) -> Iterator[Site]:
    settings.RESET_SETTLED_SECONDS = 3
    brokers = {name: FakeOffsets(name, {0: 500, 1: 501}) for name in ("broker-a", "broker-b")}
    cluster = a_cluster()
    with contextlib.ExitStack() as closing:
        wire = Wire()
        closing.callback(wire.close)
        for name, broker in brokers.items():
            server = served(broker)
            broker.address = wire.run(server.__aenter__())
            closing.callback(lambda server=server: wire.run(server.__aexit__(None, None, None)))
            a_broker(cluster, name, address=broker.address)
        yield Site(brokers, Ports.of(cluster, wire, deadline_seconds=2.0), a_group(cluster, GROUP))
