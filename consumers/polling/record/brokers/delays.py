"""Delay levels, what of which group was seen to wait there, and timer wheels, as rows.

A sample that failed leaves the one before it, with the reason; a group that is no more among a level's messages loses
its row of it.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db import transaction

from consumers.models import Cluster, DelayLevel, Rung
from consumers.polling.delays.answers import BrokerDelays, LevelReading, LevelSample

MASTER = 0
OFFSETS = ("delay_offset", "broker_offset", "next_due_at", "next_error", "read_at")
SAMPLE = ("looked_at", "sampled_of", "sampled_at", "sample_error")
RUNG = ("messages", "attempts", "oldest_stored_at", "next_due_at", "sampled_at")


def record_delays(cluster: Cluster, reading: Iterable[BrokerDelays], now: datetime) -> None:
    with transaction.atomic():
        names = set(cluster.brokers.values_list("name", flat=True))
        for gone in set(cluster.delay_levels.values_list("broker", flat=True).distinct()) - names:
            _forget(cluster, gone, kept=())
        for broker in reading:
            _record_broker(cluster, broker, now)


def _record_broker(cluster: Cluster, broker: BrokerDelays, now: datetime) -> None:
    row = cluster.brokers.filter(name=broker.broker, broker_id=MASTER)
    if broker.error is not None:
        row.update(delays_error=broker.error)
        return
    row.update(delays_at=now, delays_error=None, **_wheel(broker, now))
    _forget(cluster, broker.broker, kept=broker.levels)
    _store(DelayLevel, OFFSETS, (_level(cluster, broker.broker, *one, now) for one in broker.levels.items()))
    good = {level: sample for level, sample in broker.samples.items() if sample.error is None}
    _store(DelayLevel, SAMPLE, (_sampled(cluster, broker, *one, now) for one in good.items()))
    for level in broker.samples.keys() - good.keys():
        failed = cluster.delay_levels.filter(broker=broker.broker, level=level)
        failed.update(sample_error=broker.samples[level].error)
    _record_rungs(cluster, broker.broker, good, now)


def _wheel(broker: BrokerDelays, now: datetime) -> dict[str, Any]:
    if broker.wheel is None:
        return {}
    if broker.wheel.error is not None:
        return {"wheel_error": broker.wheel.error}
    return {"wheel": dict(broker.wheel.counts or {}), "wheel_at": now, "wheel_error": None}


def _forget(cluster: Cluster, broker: str, kept: Iterable[int]) -> None:
    cluster.delay_levels.filter(broker=broker).exclude(level__in=kept).delete()
    Rung.objects.filter(group__cluster=cluster, broker=broker).exclude(level__in=kept).delete()


def _level(cluster: Cluster, broker: str, level: int, read: LevelReading, now: datetime) -> DelayLevel:
    return DelayLevel(
        cluster=cluster,
        broker=broker,
        level=level,
        delay_offset=read.delay_offset,
        broker_offset=read.broker_offset,
        next_due_at=read.next_due.due_at if read.next_due else None,
        next_error=read.next_due.error if read.next_due else None,
        read_at=now,
    )


def _sampled(cluster: Cluster, broker: BrokerDelays, level: int, sample: LevelSample, now: datetime) -> DelayLevel:
    row = _level(cluster, broker.broker, level, broker.levels[level], now)
    row.looked_at, row.sampled_of, row.sampled_at, row.sample_error = sample.looked_at, sample.sampled_of, now, None
    return row


def _store(model: type[DelayLevel], fields: tuple[str, ...], rows: Iterator[DelayLevel]) -> None:
    unique = ["cluster", "broker", "level"]
    model.objects.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=fields)


def _record_rungs(cluster: Cluster, broker: str, samples: dict[int, LevelSample], now: datetime) -> None:
    """Groups that are not known yet are left out: they appear with their first offset."""
    names = {name for sample in samples.values() for name in sample.groups}
    ids = dict(cluster.groups.filter(name__in=names).values_list("name", "pk")) if names else {}
    rows = [
        Rung(
            group_id=ids[name],
            broker=broker,
            level=level,
            messages=of.messages,
            attempts={str(times): n for times, n in sorted(of.attempts.items())},
            oldest_stored_at=of.oldest_stored_at,
            next_due_at=of.next_due_at,
            sampled_at=now,
        )
        for level, sample in samples.items()
        for name, of in sample.groups.items()
        if name in ids
    ]
    unique = ["group", "broker", "level"]
    Rung.objects.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=RUNG)
    stored = Rung.objects.filter(group__cluster=cluster, broker=broker, level__in=samples)
    stored.exclude(sampled_at=now).delete()
