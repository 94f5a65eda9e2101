"""A world without a single true zero: whatever zero is said of it was invented.

One group on two brokers: every offset, lag, rate and count of it is above zero, every queue id too. What can be
lost of that knowledge: losses.py.
"""

from datetime import datetime, timedelta

import pyarrow as pa
from django.contrib.auth.models import User

from consumers.alerts.health import note
from consumers.findings.record import record_clusters
from consumers.lake.schemas import TABLES
from consumers.lake.store import COMPACTED, Lake, hour_folder
from consumers.models import (
    Assignment,
    Client,
    ClientSubscription,
    ConsumerGroup,
    GroupWindow,
    HeadMessage,
    HistorySize,
    PipelineRun,
    Queue,
    QueueSample,
    ResetMethod,
    ResetOutcome,
    ResetStatus,
    ResetStep,
    SavedFilter,
    StateChange,
)
from consumers.retries.volumes import VOLUMES
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason, ReadBackEvidence, ResetAct
from consumers.vocabulary.states import UnknownReason
from tests.browser.windows import MINUTE, put_windows
from tests.dead_letter_rows import a_letter, a_look, a_resend, an_item
from tests.log_rows import a_log_event, a_log_file
from tests.rebalance_rows import a_move, a_moved_topic, a_part, a_rebalance, a_repeat
from tests.reset_rows import SEEN, a_queue_left_out, a_reset, a_reset_queue, an_event
from tests.retry_rows import levels_wait, retries_work
from tests.walk.addresses import PROD_BILLING
from tests.walk.alerts import known_alerts
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
DEAD = "broker-b could not be read: connection refused"
REPORTED = {
    "topic": "Orders",
    "consume_failed_tps": 0.5,
    "consume_rt": 12.5,
    "pull_tps": 3.5,
    "pull_rt": 80.5,
    "cached_count": 8,
    "cached_mib": 2,
}
DETAIL = {"expired_messages": 5, "lag_messages": 40}
FAILING = {"consume_failed_tps": 0.9, "consume_ok_tps": 1.5, "consume_failed_messages": 40, "consume_rt": 2.5}


def a_known_world(lake: Lake) -> ConsumerGroup:
    """Everything that can be known of the group `billing` on the cluster `prod` is."""
    cluster = a_cluster(read_at=None, client_logs="/logs/*/rocketmq_client.log")
    for name in BROKERS:
        a_broker(cluster, name, cluster_name="DefaultCluster")
    # Of the last hour one reading was not whole, and some were missed.
    for seconds in (3000, 2900, 20, 5):
        broken = seconds == 2900
        brokers = [{"name": name, "read": not broken, "error": "timed out" if broken else None} for name in BROKERS]
        members = {"groups_read": 1, "clients_read": 2, "calls": 4, "seconds": 0.2}
        a_reading(cluster, ago(seconds), record_seconds=0.2, brokers=brokers, complete=not broken, members=members)
    _runs()
    _history()
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
    _rebalance(group)
    a_repeat(group, ago(560), parts=[a_part(ago(560), queue_id=1)])
    _dead_letters(group)
    _reset(group)
    known_alerts(group)
    saved = {"name": "Stalled", "query": "state=STALL&ordering=-lag_messages", "is_shared": True}
    SavedFilter.objects.create(pk=1001, user=User.objects.create(username="nora"), created_at=ago(60), **saved)
    retries_work(group, orderly=True)
    # A level that is not late is late by no second.
    levels_wait(group, late_seconds=300)
    _past(group, lake)
    _logs(group)
    # As the last round of health checks left it.
    record_clusters(ago(10))
    note(ago(10), lambda: NOW, 1)
    return group


def _logs(group: ConsumerGroup) -> None:
    """A log that was begun again once, with a line of each kind of trouble."""
    file = a_log_file(group.cluster, unknown_lines=1, long_lines=1, truncations=1, skipped_bytes=512)
    a_log_event(group, file, "queue_added")
    a_log_event(group, file, "offset_illegal", params={"offset": 7, "next_offset": 9}, at=ago(29))


def _rebalance(group: ConsumerGroup) -> None:
    row = a_rebalance(group, dated_at=ago(605), rollout=True)
    moved = a_move(
        1, **{f"{kind}_seconds{end}": 15.0 for kind in ("unowned", "doubly_owned") for end in ("", "_low", "_high")}
    )
    a_moved_topic(row, doubly_owned_queue_seconds=15.0, doubly_owned_queues=1, moves=[moved])
    # Two of an episode.
    a_moved_topic(a_rebalance(group, ago(560), dated_at=ago(565), rollout=True, episode_since=ago(600)), moves=[moved],
                  doubly_owned_queue_seconds=15.0, doubly_owned_queues=1)  # fmt: skip
    # One that has not settled for a minute yet.
    going_on = a_rebalance(
        group, ago(50), dated_at=ago(55), rollout=True, last_change_at=ago(35), settled_at=ago(32), polls=3
    )
    a_moved_topic(going_on, doubly_owned_queue_seconds=15.0, doubly_owned_queues=1, moves=[moved])


def _dead_letters(group: ConsumerGroup) -> None:
    """As many as the sums say; one of them was sent again."""
    a_look(group, 5, 12, queue_id=1, looked_at=ago(40))
    said = {"queue_id": 1, "tags": "paid", "origin_message_id": "7F00000100002A9F0000000000000C1A"}
    letters = [a_letter(group, offset, sent_by_application=True, **said) for offset in range(5, 12)]
    resend = a_resend(group, id=PROD_BILLING["resend"])
    aim = {"target_topic": "%RETRY%billing", "target_broker": "broker-a", "target_queue_id": 1}
    an_item(resend, letters[0], floor_offset=90, target_offset=91, **aim)


def _reset(group: ConsumerGroup) -> None:
    """One queue went back, one on, two were not moved, one stood there already."""
    ended = {"started_at": ago(50), "finished_at": ago(10), "working_at": ago(11), "applied_by_name": "eve"}
    seen = SEEN | {"orderly": True}
    reset = a_reset(group, id=PROD_BILLING["reset"], status=ResetStatus.PARTIAL, seen=seen, **ended)
    written = {"step": ResetStep.READ_BACK, "before": 60, "before_at": ago(40), "written_at": ago(39), "answered": 40}
    passed = stored_reason(ReadBackEvidence.PASSED_BETWEEN, target=40, before=60)
    read = {"after": 41, "after_at": ago(12), "evidence": passed, "outcome": ResetOutcome.CONFIRMED}
    readings = {"readings": [[ago(38).isoformat(), 40], [ago(12).isoformat(), 41]]}
    a_reset_queue(reset, 1, clipped=True, **written, **read, **readings)
    back = {"target": 70, "wanted": 70, "replayed_messages": 0, "skipped_messages": 10, "restorable": False}
    a_reset_queue(reset, 2, step=ResetStep.FAILED, error="broker-a refused: system busy", **back)
    a_reset_queue(reset, 3, method=ResetMethod.NOTHING, now_offset=40, replayed_messages=5)
    a_queue_left_out(reset, 4, stored_reason(PlanReason.QUEUE_UNREADABLE, error="timed out"))
    on = {"target": 70, "wanted": 70, "replayed_messages": 0, "skipped_messages": 10}
    a_reset_queue(reset, 5, **(written | read | readings | on | {"answered": 70, "after": 71}))
    an_event(reset, stored_reason(ResetAct.APPLIED))
    an_event(
        reset,
        stored_reason(ResetAct.ENDED, queue_outcomes={"CONFIRMED": 2, "failed": 1}),
        by_name=None,
        address=None,
        via="worker",
    )


def _history() -> None:
    """Measured; every table grows, as the newest whole day is the larger one."""
    days = [["2026-03-12", 900_000], ["2026-03-13", 1_100_000]]
    table = {"bytes": 2_500_000, "first_day": "2020-01-01", "oldest_whole_day": days[0], "newest_whole_days": days}
    tables = {"prod": dict.fromkeys(TABLES, table)}
    HistorySize.objects.create(measured_at=ago(600), seconds=0.1, free_bytes=40_000_000_000, tables=tables)


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
            pop_queues=[], connections={name: [client_id.replace("@", ":")] for name in BROKERS},
            listed_since=ago(8000), sub_version=ago(8000), consume_status={"Orders": FAILING},
        )  # fmt: skip
        ClientSubscription.objects.create(
            group=group, client_id=client_id, topic="Orders", expression="*", expression_type="TAG",
            seen_since=ago(9000), last_seen=ago(20),
        )  # fmt: skip


def _queue(group: ConsumerGroup, queue: Queue, owner: str) -> None:
    Queue.objects.filter(pk=queue.pk).update(readable=True, writable=True)
    a_snapshot(group, queue, 60, 100, min_offset=65, pull_offset=80)
    a_judged_queue(
        group, queue, "LOSS", rule="messages_expired", detail=DETAIL, time_lag_seconds=61.5,
        time_lag_kind="interpolated", time_lag_error_seconds=20.0, provisional=True,
    )  # fmt: skip
    Assignment.objects.create(
        group=group, queue=queue, client_id=owner, seen_since=ago(9000), last_seen=ago(20), commit_offset=70,
        cached_min=71, cached_max=79, cached_count=8, locked=True, dropped=False, last_pull_at=ago(21),
        last_consume_at=ago(22), last_lock_at=ago(23), head_since=ago(700),
    )  # fmt: skip
    HeadMessage.objects.create(
        group=group, queue=queue, client_id=owner, offset=71, since=ago(700), asked_at=ago(600),
        message_id="7F00000100002A9F000000000000047", keys="order-71", tags="paid", reconsume_times=1,
        origin_topic="Orders", size=40, born_at=ago(800), stored_at=ago(799),
    )  # fmt: skip


def _never_committed(group: ConsumerGroup, queue: Queue) -> None:
    a_snapshot(group, queue, None, 100, min_offset=65, unknown_reason=UnknownReason.NEVER_COMMITTED)
    a_judged_queue(group, queue, "OK", rule="never_committed", provisional=True, time_lag_seconds=None)
    QueueSample.objects.create(group=group, queue=queue, start_offset=100, start_rule="last offset", asked_at=ago(60))


def _sums(group: ConsumerGroup, worst: Queue) -> None:
    a_total(group, 200, queues=7, expired_messages=25, dlq_messages=7, never_committed_queues=2, retired_queues=1)
    a_judged_group(
        group, "LOSS", rule="messages_expired", detail=DETAIL, completeness=0.75, worst_queue=worst,
        time_lag_seconds=61.5, time_lag_kind="interpolated", consume_rate=3.5, produce_rate=2.5, drain_seconds=200.0,
        retry_rate=0.5, retry_share=0.1, dlq_day_messages=4, last_rebalance_at=ago(560),
    )  # fmt: skip
    StateChange.objects.create(group=group, at=ago(600), before="OK", after="LOSS", rule="messages_expired")


def _past(group: ConsumerGroup, lake: Lake) -> None:
    """Half an hour; in its second half what broker-b holds is not known, and so the sum is not."""
    starts = [NOW - (30 - number) * MINUTE for number in range(30)]
    for number, start in enumerate(starts):
        known = number < 15
        GroupWindow.objects.create(
            group=group, step_seconds=60, start=start, lag_messages=200 + number if known else None,
            time_lag_seconds=60.0 if known else None, consume_rate=3.5 if known else None,
            produce_rate=2.5 if known else None, readings=4, unknown_reason=None if known else DEAD,
            **dict.fromkeys(VOLUMES, 30 + number if known else None),
            volumes_unknown={} if known else dict.fromkeys(VOLUMES, DEAD),
        )  # fmt: skip
    lags: dict[int, list[int | None]] = {
        queue_id: [40 + number if number < 15 or queue_id % 2 else None for number in range(30)]
        for queue_id in (1, 2, 3, 4)
    }
    put_windows(lake, group, starts[0], lags, DEAD, brokers=("broker-b", "broker-a"))
    _rates(group, lake, starts)


def _rates(group: ConsumerGroup, lake: Lake, starts: list[datetime]) -> None:
    """In the second half hour nobody could be asked."""
    rows = [
        {"cluster": "prod", "taken_at": start, "group": group.name, "client_id": client_id}
        | (REPORTED | {"consume_ok_tps": 2.5 + number} if number < 15 else {"error": DEAD})
        for number, start in enumerate(starts)
        for client_id in CLIENTS
    ]
    schema = TABLES["member_rates"]
    folder = hour_folder("member_rates", "prod", starts[0])
    lake.write(pa.Table.from_pylist(rows, schema), f"{folder}/{COMPACTED}", schema)
