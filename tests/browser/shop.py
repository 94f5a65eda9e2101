"""A shop's consumer groups for the browser to look at, on two clusters; the second has a dead broker."""

import math
from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction

from consumers.lake.store import Lake
from consumers.models import Assignment, Client, Cluster, ConsumerGroup, GroupWindow, PipelineRun, Queue, StateChange
from tests.browser.actors import CALM, TROUBLED, Actor
from tests.browser.windows import MINUTE, put_rows, window_rows
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_reading,
    a_snapshot,
    a_total,
    ago,
)

DEAD_SINCE = ago(46 * 60)
DEAD = "broker-b could not be read: connection refused"
BOTH = ("broker-a", "broker-b")


@transaction.atomic
def seed(lake: str) -> None:
    """Fills the database and the lake at `lake`; everything is as of `tests.world.NOW`."""
    here, there = _clusters()
    _runs()
    put_rows(Lake.at(lake), here.name, [row for actor in TROUBLED for row in _act(here, actor)])
    for number, name in enumerate(CALM):
        _act(here, Actor(name, "OK", (number % 3, 0, 0, 0), dlq=312 if name == "email" else 0))
    eu = [_act(there, Actor(name, "OK", (0, 0, 0, 0)), BOTH) for name in ("checkout-eu", "email-eu", "returns-eu")]
    put_rows(Lake.at(lake), there.name, [row for rows in eu for row in rows])
    a_total(a_group(here, "newcomer", online=None, members=None, membership_at=None), 14)


def _clusters() -> tuple[Cluster, Cluster]:
    here, there = a_cluster("prod-a", read_at=None), a_cluster("prod-b", read_at=None)
    for cluster in (here, there):
        a_broker(cluster)
    a_broker(here, "broker-b", address="10.0.0.12:10911")
    a_dead_broker(there, since=DEAD_SINCE)
    broken = [{"name": "broker-b", "read": False, "error": "connection refused"}]
    for number in range(20):
        at = ago(5 + 15 * number)
        a_reading(here, at, queues=18_204, bytes=1_940_000, record_seconds=0.21)
        a_reading(there, at, queues=40, record_seconds=0.06, complete=False, brokers=broken)
    return here, there


def _runs() -> None:
    for number in range(20):
        at = ago(12 + 30 * number)
        run = PipelineRun(since=at - timedelta(seconds=30), until=at, started_at=at, finished_at=at)
        if number == 4:
            run.error = "The Spark session did not answer within 600 s; it was restarted."
        else:
            run.seconds, run.queues_judged, run.groups_judged = 2.1, 18_244, 29
        run.save()


def _act(cluster: Cluster, actor: Actor, brokers: Sequence[str] = ("broker-a",)) -> list[dict[str, object]]:
    """Makes the group with everything that was read and judged of it; returns its windows per queue."""
    group = a_group(cluster, actor.name, members=actor.members, online=actor.members > 0)
    a_total(group, sum(actor.lags), dlq_messages=actor.dlq)
    worst = max(range(len(actor.lags)), key=lambda number: actor.lags[number])
    queues = [a_queue(cluster, actor.topic, n, broker=brokers[n % len(brokers)]) for n in range(len(actor.lags))]
    for number, queue in enumerate(queues):
        _read_and_judge(group, actor, queue, number, number == worst)
    _members(group, actor, queues)
    a_judged_group(
        group,
        actor.state,
        rule=actor.rule,
        detail=actor.detail or {},
        since=ago(actor.since),
        worst_queue=queues[worst],
        time_lag_seconds=actor.time_lag,
        time_lag_kind="interpolated" if any(actor.lags) else "exact",
        consume_rate=actor.rates[0],
        produce_rate=actor.rates[1],
        drain_seconds=19.0 if actor.name == "search-index" else None,
    )
    if actor.state != "OK":
        StateChange.objects.create(
            group=group, at=ago(actor.since), before="OK", after=actor.state, rule=actor.rule, detail=actor.detail or {}
        )
    return _past(group, actor, brokers)


def _read_and_judge(group: ConsumerGroup, actor: Actor, queue: Queue, number: int, is_worst: bool) -> None:
    behind = actor.lags[number]
    expired = actor.state == "LOSS" and is_worst
    a_snapshot(group, queue, 1_250_000 - behind, 1_250_000, min_offset=1_211_920 if expired else 1_000_000)
    is_judged_so = is_worst or actor.state in ("STOP", "WARN", "REWIND")
    a_judged_queue(
        group,
        queue,
        actor.state if is_judged_so else "OK",
        rule=actor.rule if is_judged_so else "lagging",
        detail=actor.detail or {},
        since=ago(actor.since),
        time_lag_seconds=actor.time_lag if behind else 0.0,
        time_lag_kind="interpolated",
        time_lag_error_seconds=20,
    )


def _members(group: ConsumerGroup, actor: Actor, queues: Sequence[Queue]) -> None:
    for number in range(actor.members):
        address = f"10.0.0.{7 + number}"
        running = {"version": "V5_3_2", "strategy": "AVG"} if number else {"running_info_error": "timed out after 3 s"}
        Client.objects.create(
            group=group,
            client_id=f"{address}@3312",
            address=f"{address}:41022",
            language="JAVA",
            started_at=ago(90_000) if number else None,
            seen_since=ago(90_000),
            last_seen=ago(20),
            **running,
        )
    for number, queue in enumerate(queues if actor.members else []):
        owner = f"10.0.0.{7 + number % actor.members}@3312"
        Assignment.objects.create(group=group, queue=queue, client_id=owner, seen_since=ago(7200), last_seen=ago(10))


def _past(group: ConsumerGroup, actor: Actor, brokers: Sequence[str]) -> list[dict[str, object]]:
    """An hour of windows that grows towards the lag of now, with a gap while a broker was not read."""
    starts = [NOW - (60 - number) * MINUTE for number in range(60)]
    dead = [len(brokers) > 1 and start >= DEAD_SINCE for start in starts]
    lost = [actor.name == "inventory" and 20 <= number < 24 for number in range(60)]
    shares = [(number + 1) / 60 * (1 + 0.06 * math.sin(number / 2)) for number in range(60)]
    known = [None if gone or late else share for gone, late, share in zip(dead, lost, shares, strict=True)]
    reason = DEAD if any(dead) else "broker-a could not be read: timed out after 5 s"
    lags = {n: [None if s is None else round(lag * s) for s in known] for n, lag in enumerate(actor.lags)}
    GroupWindow.objects.bulk_create(
        GroupWindow(
            group=group,
            step_seconds=60,
            start=start,
            lag_messages=None if share is None else round(sum(actor.lags) * share),
            readings=0 if share is None else 4,
            unknown_reason=reason if share is None else None,
        )
        for start, share in zip(starts, known, strict=True)
    )
    return window_rows(group, starts[0], lags, reason, actor.topic, brokers)
