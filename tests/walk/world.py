"""A world without a single true zero: whatever zero is said of it was invented.

One group on two brokers: every offset, lag, rate and count of it is above zero, every queue id too. The worlds of
`WORLDS` then lose one kind of knowledge each.
"""

from collections.abc import Callable
from datetime import timedelta

from consumers.lake.store import Lake
from consumers.models import (
    Assignment,
    Broker,
    Client,
    ConsumerGroup,
    GroupState,
    GroupTotal,
    GroupWindow,
    PipelineRun,
    Queue,
    QueueSample,
    QueueSnapshot,
    QueueState,
    Reading,
    StateChange,
)
from consumers.polling.reading import AHEAD, NEVER_COMMITTED
from tests.browser.windows import MINUTE, put_windows
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_reading,
    a_snapshot,
    a_total,
    ago,
)

BROKERS = ("broker-a", "broker-b")
CLIENTS = ("10.0.0.7@3312", "10.0.0.8@3312")
LAST_GOOD = ago(300)
DEAD = "broker-b could not be read: connection refused"
DETAIL = {"expired_messages": 5, "lag_messages": 40}


def a_known_world(lake: Lake) -> ConsumerGroup:
    """Everything that can be known of the group `billing` on the cluster `prod` is."""
    cluster = a_cluster(read_at=None)
    for name in BROKERS:
        a_broker(cluster, name)
    # Of the last hour one reading was not whole, and some were missed.
    for seconds in (3000, 2900, 20, 5):
        broken = seconds == 2900
        brokers = [{"name": name, "read": not broken, "error": "timed out" if broken else None} for name in BROKERS]
        members = {"groups_read": 1, "clients_read": 2, "calls": 4, "seconds": 0.2}
        a_reading(cluster, ago(seconds), record_seconds=0.2, brokers=brokers, complete=not broken, members=members)
    _runs()
    group = a_group(cluster, consume_from_where="CONSUME_FROM_LAST_OFFSET", retry_max_times=16, retry_queue_nums=1)
    subscription = {"topic": "Orders", "expression": "*", "expression_type": "TAG"}
    group.subscriptions = [subscription]
    group.save()
    _members(group, subscription)
    queues = [a_queue(cluster, "Orders", 1 + number, broker=BROKERS[number % 2]) for number in range(4)]
    queues.append(a_queue(cluster, "%RETRY%billing", 1, kind="retry"))
    for number, queue in enumerate(queues):
        _queue(group, queue, CLIENTS[number % 2])
    # One queue of each topic was never committed: how many were is never zero either.
    _never_committed(group, a_queue(cluster, "Orders", 9))
    _never_committed(group, a_queue(cluster, "%RETRY%billing", 9, kind="retry"))
    _sums(group, queues[0])
    _past(group, lake)
    return group


def _runs() -> None:
    for seconds, error in ((3000, None), (2900, "The Spark session did not answer."), (30, None)):
        at = ago(seconds)
        run = PipelineRun(since=at - timedelta(seconds=30), until=at, started_at=at, finished_at=at, error=error)
        run.seconds, run.queues_judged, run.groups_judged = (None,) * 3 if error else (2.1, 5, 1)
        run.save()


def _members(group: ConsumerGroup, subscription: dict[str, str]) -> None:
    for client_id in CLIENTS:
        Client.objects.create(
            group=group, client_id=client_id, address=client_id.replace("@", ":"), language="JAVA", version="V5_3_2",
            strategy="AVG", orderly=True, started_at=ago(9000), subscriptions=[subscription], seen_since=ago(9000),
            last_seen=ago(20), running_info_at=ago(20), settings={"consumeFromWhere": "CONSUME_FROM_LAST_OFFSET"},
            pop_queues=[],
        )  # fmt: skip


def _queue(group: ConsumerGroup, queue: Queue, owner: str) -> None:
    Queue.objects.filter(pk=queue.pk).update(readable=True, writable=True)
    a_snapshot(group, queue, 60, 100, min_offset=65, pull_offset=80)
    a_judged_queue(
        group, queue, "LOSS", rule="unread messages have expired", detail=DETAIL, time_lag_seconds=61.5,
        time_lag_kind="interpolated", time_lag_error_seconds=20.0, provisional=True,
    )  # fmt: skip
    Assignment.objects.create(
        group=group, queue=queue, client_id=owner, seen_since=ago(9000), last_seen=ago(20), commit_offset=70,
        cached_min=71, cached_max=79, cached_count=8, locked=True, last_pull_at=ago(21), last_consume_at=ago(22),
        last_lock_at=ago(23),
    )  # fmt: skip


def _never_committed(group: ConsumerGroup, queue: Queue) -> None:
    a_snapshot(group, queue, None, 100, min_offset=65, unknown_reason=NEVER_COMMITTED)
    a_judged_queue(group, queue, "OK", rule=NEVER_COMMITTED, provisional=True, time_lag_seconds=None)
    QueueSample.objects.create(group=group, queue=queue, start_offset=100, start_rule="last offset", asked_at=ago(60))


def _sums(group: ConsumerGroup, worst: Queue) -> None:
    a_total(group, 200, queues=7, expired_messages=25, dlq_messages=7, never_committed_queues=2, retired_queues=1)
    a_judged_group(
        group, "LOSS", rule="unread messages have expired", detail=DETAIL, completeness=0.75, worst_queue=worst,
        time_lag_seconds=61.5, time_lag_kind="interpolated", consume_rate=3.5, produce_rate=2.5, drain_seconds=200.0,
        retry_rate=0.5,
    )  # fmt: skip
    StateChange.objects.create(group=group, at=ago(600), before="OK", after="LOSS", rule="unread messages have expired")


def _past(group: ConsumerGroup, lake: Lake) -> None:
    """Half an hour; in its second half what broker-b holds is not known, and so the sum is not."""
    starts = [NOW - (30 - number) * MINUTE for number in range(30)]
    for number, start in enumerate(starts):
        known = number < 15
        GroupWindow.objects.create(
            group=group, step_seconds=60, start=start, lag_messages=200 + number if known else None,
            time_lag_seconds=60.0 if known else None, consume_rate=3.5 if known else None,
            produce_rate=2.5 if known else None, readings=4, unknown_reason=None if known else DEAD,
        )  # fmt: skip
    lags: dict[int, list[int | None]] = {
        queue_id: [40 + number if number < 15 or queue_id % 2 else None for number in range(30)]
        for queue_id in (1, 2, 3, 4)
    }
    put_windows(lake, group, starts[0], lags, DEAD, brokers=("broker-b", "broker-a"))


def everything_known(group: ConsumerGroup) -> None:
    pass


def dead_broker(group: ConsumerGroup) -> None:
    _break(group, "broker-b", reachable=False, last_read_at=LAST_GOOD, failing_since=LAST_GOOD)


def just_died_broker(group: ConsumerGroup) -> None:
    _break(group, "broker-b", reachable=False, last_read_at=ago(20), failing_since=ago(5))


def _break(group: ConsumerGroup, name: str, *, error: str | None = "connection refused", **fields: object) -> None:
    Broker.objects.filter(name=name).update(error=error, **fields)
    newest = Reading.objects.order_by("-taken_at")[0]
    newest.brokers = [{"name": n, "read": n != name, "error": error if n == name else None} for n in BROKERS]
    newest.complete = False
    newest.save()
    reason = f"{name}: {error}"
    GroupTotal.objects.update(
        lag_messages=None, lag_messages_at_least=120, unknown_queues=2, unknown_reason=reason, last_good_at=LAST_GOOD,
        expired_messages=None, dlq_messages=None,
    )  # fmt: skip


def never_read_broker(group: ConsumerGroup) -> None:
    _break(group, "broker-b", reachable=False, last_read_at=None, failing_since=ago(60), version=None)


def unasked_broker(group: ConsumerGroup) -> None:
    """The name server has just listed it."""
    Broker.objects.filter(name="broker-b").update(last_read_at=None, reachable=None, version=None)


def no_pipeline(group: ConsumerGroup) -> None:
    for model in (GroupState, QueueState, GroupWindow, PipelineRun, StateChange):
        model.objects.all().delete()


def stale_pipeline(group: ConsumerGroup) -> None:
    for model in (GroupState, QueueState):
        model.objects.update(judged_at=ago(3600))
    PipelineRun.objects.filter(started_at__gt=ago(60)).delete()


def polling_stopped(group: ConsumerGroup) -> None:
    Reading.objects.filter(taken_at__gt=ago(60)).delete()
    Broker.objects.update(last_read_at=ago(2900))


def no_name_server(group: ConsumerGroup) -> None:
    error = "no name server answered: connection refused"
    a_reading(group.cluster, ago(1), complete=False, brokers=[], error=error, queues=1, record_seconds=0.2)


def no_broker_known(group: ConsumerGroup) -> None:
    Broker.objects.all().delete()
    no_name_server(group)


def never_committed(group: ConsumerGroup) -> None:
    QueueSnapshot.objects.update(consumer_offset=None, pull_offset=None, unknown_reason=NEVER_COMMITTED)
    GroupTotal.objects.update(
        lag_messages=None, lag_messages_at_least=None, never_committed_queues=7, unknown_reason=NEVER_COMMITTED,
        expired_messages=None,
    )  # fmt: skip
    for model in (QueueState, GroupState):
        model.objects.update(
            state="OK", rule=NEVER_COMMITTED, detail={}, time_lag_seconds=None, time_lag_kind="unknown"
        )


def not_sampled(group: ConsumerGroup) -> None:
    """Members are listed, and none of them has said anything yet."""
    QueueSnapshot.objects.update(pull_offset=None)
    Assignment.objects.all().delete()
    Client.objects.update(running_info_at=None, subscriptions=None, started_at=None, strategy=None, settings=None)


def silent_members(group: ConsumerGroup) -> None:
    not_sampled(group)
    Client.objects.update(running_info_error="timed out after 3 s")


def members_not_asked(group: ConsumerGroup) -> None:
    not_sampled(group)
    Client.objects.all().delete()
    ConsumerGroup.objects.update(
        online=None, members=None, membership_at=None, message_model=None, consume_type=None, subscriptions=[],
        consume_from_where=None,
    )  # fmt: skip


def min_offsets_unread(group: ConsumerGroup) -> None:
    QueueSnapshot.objects.update(min_offset=None)
    GroupTotal.objects.update(expired_messages=None)


def consumer_ahead(group: ConsumerGroup) -> None:
    QueueSnapshot.objects.filter(queue__queue_id=1).update(consumer_offset=130, unknown_reason=AHEAD)
    GroupTotal.objects.update(
        lag_messages=None, lag_messages_at_least=120, unknown_queues=2, unknown_reason=AHEAD, expired_messages=15
    )


def never_read_group(group: ConsumerGroup) -> None:
    """Only its name is known, by the configuration of a broker."""
    for model in (GroupState, QueueState, GroupWindow, StateChange, QueueSnapshot, GroupTotal, Assignment, Client):
        model.objects.all().delete()
    members_not_asked(group)


def never_read_cluster(group: ConsumerGroup) -> None:
    never_read_group(group)
    for model in (Reading, Broker):
        model.objects.all().delete()


WORLDS: dict[str, Callable[[ConsumerGroup], None]] = {
    lose.__name__: lose
    for lose in (
        everything_known, dead_broker, just_died_broker, never_read_broker, unasked_broker, no_pipeline, stale_pipeline,
        polling_stopped, no_name_server, no_broker_known, never_committed, not_sampled, silent_members,
        members_not_asked, min_offsets_unread, consumer_ahead, never_read_group, never_read_cluster,
    )
}  # fmt: skip
