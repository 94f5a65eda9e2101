"""A site that is large where ranges and lists are: many groups in rows, and one group with a long past."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from consumers.lake.schemas import WINDOWS
from consumers.lake.store import COMPACTED, Lake, hour_folder, rows_in_group
from consumers.models import (
    AlertRule,
    Assignment,
    Channel,
    ClientSubscription,
    ConsumerGroup,
    DeadLetter,
    Delivery,
    GroupNote,
    GroupWindow,
    Incident,
    Queue,
    QueueSnapshot,
    Rebalance,
    RebalanceTopic,
    Resend,
    ResendItem,
    Reset,
    ResetQueue,
    Silence,
    Topic,
)
from tests.bench.pipeline.history_lake import Extent, windows
from tests.bench.site_rows import fill
from tests.walk.addresses import PROD_BILLING
from tests.world import NOW

GROUPS, QUEUES, DAYS = 200, 64, 7
ROWS = 2_000
MINUTE = timedelta(minutes=1)


class OneGroup(Extent):
    def group(self, number: int) -> str:
        return "billing"


def make_large(group: ConsumerGroup, lake: Lake) -> None:
    """`group` as the known world has it: its rows of each kind are multiplied."""
    fill(GROUPS, QUEUES, NOW)
    _past(group, lake)
    _multiply(group)


def _past(group: ConsumerGroup, lake: Lake) -> None:
    """Windows of a minute, of ten and of an hour, of 64 queues, as a pipeline leaves them."""
    extent = OneGroup(1, QUEUES)
    for step in (60, 600, 3600):
        for hours in range(1, 24 * DAYS + 1):
            start = NOW - timedelta(hours=hours)
            rows = windows(extent, step, start, 3600 // step)
            folder = hour_folder(f"windows_{step}", group.cluster.name, start)
            lake.write(rows, f"{folder}/{COMPACTED}", WINDOWS, rows_in_group(rows.num_rows))
    known = GroupWindow.objects.filter(group=group).first()
    GroupWindow.objects.filter(group=group).delete()
    values = {"lag_messages": 12, "readings": 4, "into_retry": 1, "out_of_retry": 1, "into_dlq": 0, "consumed": 5}
    assert known is not None
    GroupWindow.objects.bulk_create(
        GroupWindow(group=group, step_seconds=60, start=NOW - number * MINUTE, **values)
        for number in range(1, 24 * 60 * DAYS)
    )


def _multiply(group: ConsumerGroup) -> None:
    topic = Topic.objects.get(cluster=group.cluster, name="Orders")
    queues = Queue.objects.bulk_create(
        Queue(topic=topic, broker="broker-a", queue_id=100 + number) for number in range(QUEUES)
    )
    said = {"consumer_offset": 10, "broker_offset": 40, "min_offset": 1, "changed_at": _ago(5)}
    QueueSnapshot.objects.bulk_create(QueueSnapshot(group=group, queue=queue, **said) for queue in queues)
    Assignment.objects.bulk_create(
        Assignment(group=group, queue=queues[n % QUEUES], client_id=_client(n), **_interval(n)) for n in range(ROWS)
    )
    ClientSubscription.objects.bulk_create(
        ClientSubscription(
            group=group, client_id=_client(n), topic=f"T{n % 9}", expression=f"tag{n % 3}", expression_type="TAG",
            **_interval(n),
        )
        for n in range(ROWS)
    )  # fmt: skip
    _copy(DeadLetter.objects.filter(group=group), offset=lambda n: 10_000 + n)
    _copy(ResetQueue.objects.filter(reset=PROD_BILLING["reset"]), queue_id=lambda n: 1_000 + n)
    _copy(ResendItem.objects.filter(resend=PROD_BILLING["resend"]), offset=lambda n: 50_000 + n)
    begun = {name: lambda n: _ago(300 * (n + 12)) for name in ("started_before", "last_change_at", "episode_since")}
    rebalances = _copy(Rebalance.objects.filter(group=group), **begun, settled_at=lambda n: _ago(300 * (n + 12) - 15))
    RebalanceTopic.objects.bulk_create(
        RebalanceTopic(rebalance=row, topic="Orders", queues=8, queues_moved=1) for row in rebalances
    )
    resolved = {
        "status": lambda n: "resolved",
        "ending": lambda n: "recovered",
        "resolved_at": lambda n: _ago(n),
        "open_key": lambda n: None,
    }
    _copy(Incident.objects.all(), subject_key=lambda n: f"copy {n}", **resolved)
    for kept in (Delivery, Reset, Silence, Resend):
        _copy(kept.objects.all(), number=lambda n: 1_000 + n)
    _copy(GroupNote.objects.all(), position=lambda n: 1_000 + n)
    for named in (AlertRule, Channel):
        _copy(named.objects.all(), name=lambda n: f"Copy {n}")


FIRST_KEY = 1_000_000


def _copy(rows: Any, **changed: Callable[[int], Any]) -> list[Any]:
    """ROWS like the first of `rows`; `changed`: what each has of its own, by its number."""
    first = rows[0]
    model, names = type(first), {field.attname for field in first._meta.concrete_fields if not field.primary_key}
    values = {name: getattr(first, name) for name in names}
    # The world names some keys itself, which PostgreSQL's sequences know nothing of.
    key = {"id": (lambda n: UUID(int=n + 1)) if isinstance(first.pk, UUID) else (lambda n: FIRST_KEY + n)}
    made = {name: make for name, make in (changed | key).items() if name in names or name == "id"}
    copies = [model(**values | {name: make(number) for name, make in made.items()}) for number in range(ROWS)]
    return list(model._default_manager.bulk_create(copies, 500))


def _client(number: int) -> str:
    return f"10.0.{number % 100}.7@{number}"


def _interval(number: int) -> dict[str, datetime]:
    start = 300 * (number + 2)
    return {"seen_since": _ago(start + 900), "last_seen": _ago(start), "gone_by": _ago(start - 15)}


def _ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)
