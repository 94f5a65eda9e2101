"""A worker's surroundings: a broker on a socket, its cluster in rows, a clock that only moves when told to."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count

import pytest

from consumers.jobs.hold import Ports
from consumers.models import ConsumerGroup, Destination, Resend, ResendItem, ResendOutcome, ResendStatus
from consumers.polling.registration import Wire
from tests.consumers.dead_letters.resend.fake_queues import NAME, FakeQueues, stored_id
from tests.consumers.rocketmq.fake_server import served
from tests.fake_clock import FakeClock
from tests.reset_rows import an_operator
from tests.world import NOW, a_broker, a_cluster, a_group


@dataclass
class Site:
    broker: FakeQueues
    ports: Ports
    group: ConsumerGroup
    names: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def retry(self) -> str:
        return f"%RETRY%{self.group.name}"

    @property
    def dlq(self) -> str:
        return f"%DLQ%{self.group.name}"

    def use_a_group_of_its_own(self) -> None:
        self.group = a_group(self.group.cluster, f"billing-{next(self.names)}")

    def died(self, letters: int, origin: str = "Orders") -> list[int]:
        """Dead letters k0, k1 …; their offsets."""
        properties = [f"KEYS\x01k{number}\x02RETRY_TOPIC\x01{origin}\x02" for number in range(letters)]
        return [self.broker.put(self.dlq, text) for text in properties]

    def running(self, offsets: list[int], *, to_group: bool = True, again: bool = False, rate: float = 50) -> Resend:
        resend = a_resend(self.group, to_group=to_group, again=again, rate=rate, status=ResendStatus.RUNNING)
        for offset in offsets:
            an_item(resend, offset, target_topic=self.retry if to_group else "Orders")
        return resend


def a_resend(
    group: ConsumerGroup,
    *,
    to_group: bool = True,
    again: bool = False,
    rate: float = 50,
    status: ResendStatus = ResendStatus.PLANNED,
    **fields: object,
) -> Resend:
    destination = Destination.GROUP if to_group else Destination.TOPIC
    values: dict[str, object] = {"by_name": "ann", "reason": "the bug is mended", "selection": {"messages": []}}
    values |= {"created_at": NOW, "expires_at": NOW + timedelta(minutes=15), "rate_per_second": rate}
    if status == ResendStatus.RUNNING:
        values |= {"started_by": an_operator(), "started_by_name": "ann"}
    values |= {"group": group, "destination": destination, "again": again, "status": status} | fields
    return Resend.objects.create(**values)


def an_item(
    resend: Resend, offset: int, outcome: ResendOutcome = ResendOutcome.PLANNED, **fields: object
) -> ResendItem:
    values: dict[str, object] = {"broker": NAME, "queue_id": 0, "offset": offset, "stored_id": stored_id(offset)}
    return ResendItem.objects.create(resend=resend, outcome=outcome, **(values | fields))


def outcomes(resend: Resend) -> list[str]:
    return list(resend.items.order_by("pk").values_list("outcome", flat=True))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def serve() -> Iterator[Callable[[FakeQueues], tuple[Wire, str]]]:
    """Starts a broker; its wire and address."""
    with contextlib.ExitStack() as closing:

        def start(broker: FakeQueues) -> tuple[Wire, str]:
            wire = Wire()
            closing.callback(wire.close)
            server = served(broker)
            address = wire.run(server.__aenter__())
            closing.callback(lambda: wire.run(server.__aexit__(None, None, None)))
            return wire, address

        yield start


@pytest.fixture
def site(db: None, serve: Callable[[FakeQueues], tuple[Wire, str]]) -> Site:
    broker = FakeQueues()
    wire, broker.address = serve(broker)
    cluster = a_cluster()
    cluster.namesrv = broker.address
    a_broker(cluster, NAME, address=broker.address)
    return Site(broker, Ports.of(cluster, wire, deadline_seconds=1.0), a_group(cluster))
