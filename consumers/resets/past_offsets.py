"""Offsets from the past: another group's, the group's own at an earlier time, a list's, those from before a reset.

The general worker asks for them: it reads the lake, and for a copy it asks the masters.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from django.conf import settings
from django.db.models import Q, QuerySet

from consumers.jobs.hold import Ports, WithHeartbeat
from consumers.lake.knot_days import day_start
from consumers.lake.one_group import read_group
from consumers.lake.reader import dataset, files, folder_files, steadily
from consumers.lake.schemas import NO_TOPIC, TIME
from consumers.lake.store import Lake, hour_folder
from consumers.lake.unreadable import put_aside_of
from consumers.models import ConsumerGroup, Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStep
from consumers.resets.planning.gather import Masters
from consumers.resets.target_values import QueueKey, ResetRefused, moment_of
from consumers.rocketmq.names import DLQ_PREFIX
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason, ResetWarning
from consumers.vocabulary.states import BROADCASTING, POPPING, UnknownReason
from consumers.vocabulary.times import MICROSECOND, iso
from consumers.words.spans import age

# Back to where the group itself stood: the newest readings up to the moment, unless the queue was made anew since.
# Where a group stood at a past moment, as the readings of the lake have it.

# A broker that was silent then was read shortly before; what it said still earlier says nothing of the moment.
LOOKED_BACK = timedelta(minutes=15)
PLACE = ("topic", "broker", "queue_id")
Keys = Collection[QueueKey]
FACTS = ("taken_at", "kind", "consumer_offset", "broker_offset", "unknown_reason")


@dataclass(frozen=True)
class Position:
    """The newest reading of a queue that holds a consumer offset; `offset` null: there is none, or a newer one denies
    it, and `reason` says so. `kind` is the topic's, as the group sees it."""

    kind: str
    taken_at: datetime
    offset: int | None
    broker_offset: int | None
    reason: str | None


def looked_back(poll_seconds: float) -> timedelta:
    return max(LOOKED_BACK, timedelta(seconds=3 * poll_seconds))


def positions_at(
    lake: Lake, cluster: str, group: str, at: datetime, back: timedelta = LOOKED_BACK
) -> dict[QueueKey, Position]:
    """Of every queue that a reading from `back` before `at` up to `at` saw. Empty where none saw the group."""
    found = read_group(lake, "readings", cluster, group, at - back, at + MICROSECOND, [*PLACE, *FACTS])
    newest = _newest(found)
    committed = _newest(found.filter(pc.is_valid(found["consumer_offset"])))
    return {key: _position(row, committed.get(key)) for key, row in newest.items()}


def was_read(lake: Lake, cluster: str, at: datetime, back: timedelta = LOOKED_BACK) -> bool:
    """Whether any reading of the cluster is kept from then."""
    time = pc.field("taken_at")
    within = (time >= pa.scalar(at - back, TIME)) & (time <= pa.scalar(at, TIME))

    def any_row(names: list[str]) -> bool:
        source: ds.Dataset = dataset(lake, "readings", names)
        return bool(source.head(1, columns=["taken_at"], filter=within).num_rows)

    return steadily(lake, lambda: files(lake, "readings", cluster, at - back, at + MICROSECOND), any_row)


def _newest(rows: pa.Table) -> dict[QueueKey, dict[str, Any]]:
    last = [(name, "last", pc.ScalarAggregateOptions(skip_nulls=False)) for name in FACTS]
    # Only one thread keeps the order that "last" goes by.
    newest = rows.sort_by("taken_at").group_by(list(PLACE), use_threads=False).aggregate(last)
    return {QueueKey.of_entry(row): {name: row[f"{name}_last"] for name in FACTS} for row in newest.to_pylist()}


def _position(newest: Mapping[str, Any], committed: Mapping[str, Any] | None) -> Position:
    kind, taken_at = newest["kind"], newest["taken_at"]
    if committed is None:
        why = newest["unknown_reason"]
        unknown_then = stored_reason(PlanReason.UNKNOWN_THEN, unknown_reason=why)
        reason = unknown_then if why else stored_reason(PlanReason.NOT_READ_THEN)
        return Position(kind, taken_at, None, None, reason)
    if is_denied(newest):
        at = iso(committed["taken_at"])
        reason = stored_reason(PlanReason.COMMIT_DENIED, offset=committed["consumer_offset"], at=at)
        return Position(kind, taken_at, None, None, reason)
    return Position(kind, committed["taken_at"], committed["consumer_offset"], committed["broker_offset"], reason=None)


def is_denied(newest: Mapping[str, Any]) -> bool:
    """The broker was read, and had no offset: what it had before was lost, or taken away."""
    return newest["consumer_offset"] is None and newest["unknown_reason"] != UnknownReason.SLAVE_BEHIND


# Which queues were made anew since a moment: an offset of before names another message there, or none.
# Told by the broker offsets that were aggregated since (knots): both sides of one that went back are always kept, and
# the knot that says that the topic was gone.

# A quiet queue has a knot an hour, written by a run that comes some minutes later at worst.
SILENT = timedelta(minutes=70)


@dataclass(frozen=True)
class Remade:
    """`why` by queue. `known_until` null: no broker offset was aggregated since, nothing is known."""

    why: Mapping[QueueKey, str]
    known_until: datetime | None

    def is_known(self, now: datetime) -> bool:
        return self.known_until is not None and self.known_until >= now - SILENT


def remade_since(
    lake: Lake, cluster: str, positions: Mapping[QueueKey, Position], since: datetime, now: datetime
) -> Remade:
    """Of the queues whose broker offset the positions hold."""
    knots = _knots(lake, cluster, {key.topic for key in positions}, since, now)
    then = [
        {**vars(key), "at": position.taken_at, "broker_offset": position.broker_offset}
        for key, position in positions.items()
        if position.broker_offset is not None
    ]
    seen = pa.concat_tables([pa.Table.from_pylist(then, knots.schema), knots])
    return Remade(_drops(seen), pc.max(knots["at"]).as_py())


def _knots(lake: Lake, cluster: str, topics: Collection[str], since: datetime, now: datetime) -> pa.Table:
    at = pc.field("at")
    wanted = (at >= pa.scalar(since, TIME)) & (at <= pa.scalar(now, TIME)) & pc.field("broker_offset").is_valid()
    wanted &= pc.field("topic").isin(pa.array(sorted(topics), pa.string()))

    def names() -> list[str]:
        # The knots of a settled day stand in its first hour.
        first = folder_files(lake, hour_folder("knots", cluster, day_start(since)))
        return list(dict.fromkeys([*first, *files(lake, "knots", cluster, since, now + MICROSECOND)]))

    return steadily(
        lake,
        names,
        lambda found: dataset(lake, "knots", found).to_table(columns=[*PLACE, "at", "broker_offset"], filter=wanted),
    )


def _drops(seen: pa.Table) -> dict[QueueKey, str]:
    """Per queue, its first broker offset that is lower than the one before."""
    ordered = seen.sort_by([(name, "ascending") for name in [*PLACE, "at", "broker_offset"]])
    if ordered.num_rows < 2:
        return {}
    offset = ordered["broker_offset"].to_numpy()
    same = np.ones(ordered.num_rows - 1, dtype=bool)
    for name in PLACE:
        column = ordered[name].combine_chunks()
        same &= pc.equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    fell = np.flatnonzero(same & (offset[1:] < offset[:-1])) + 1
    found: dict[QueueKey, str] = {}
    for row, before in zip(ordered.take(fell).to_pylist(), offset[fell - 1].tolist(), strict=True):
        key = QueueKey.of_entry(row)
        after, at = row["broker_offset"], iso(row["at"])
        if after == NO_TOPIC:
            reason = stored_reason(PlanReason.TOPIC_RECREATED, at=at)
        else:
            reason = stored_reason(PlanReason.REMADE, before=before, after=after, at=at)
        found.setdefault(key, reason)
    return found


OWN_KINDS = ("retry", "dlq")


def stood_then(cluster: str, group: str, at: datetime) -> dict[QueueKey, Position]:
    """Raises ResetRefused where no reading from then saw the group."""
    back = looked_back(settings.CONSUMERSCOPE_POLL_SECONDS)
    with _the_lake() as lake:
        found = positions_at(lake, cluster, group, at, back)
        _check_nothing_is_missing(lake, "readings", cluster, at - back, at + MICROSECOND)
        if found:
            return found
        is_read = was_read(lake, cluster, at, back)
    values = {"minutes": round(back.total_seconds() / 60), "at": iso(at)}
    if not is_read:
        raise ResetRefused(stored_reason(PlanReason.NO_READING_THEN, **values, cluster=cluster))
    raise ResetRefused(stored_reason(PlanReason.GROUP_NOT_SEEN_THEN, **values, group=group))


def queues_of_then(cluster: str, group: str, at: datetime, topics: Collection[str] | None) -> tuple[QueueKey, ...]:
    """Of all its topics but its own retry and dead-letter topics, or of `topics`. Raises ResetRefused."""

    def is_meant(key: QueueKey, position: Position) -> bool:
        if topics is None:
            return position.kind not in OWN_KINDS
        return key.topic in topics and not key.topic.startswith(DLQ_PREFIX)

    found = stood_then(cluster, group, at)
    return tuple(key for key, position in found.items() if is_meant(key, position))


def targets_of_then(
    cluster: str, group: str, at: datetime, keys: Keys, now: datetime
) -> tuple[dict[QueueKey, int | str], tuple[str, ...]]:
    """By queue, and warnings. Raises ResetRefused."""
    then = stood_then(cluster, group, at)
    stood = {key: then[key] for key in keys if key in then}
    with _the_lake() as lake:
        remade = remade_since(lake, cluster, stood, at, now)
        # The knots of a settled day stand in its first hour.
        _check_nothing_is_missing(lake, "knots", cluster, day_start(at), now + MICROSECOND)
    targets: dict[QueueKey, int | str] = {}
    for key in keys:
        position = stood.get(key)
        if position is None:
            targets[key] = stored_reason(PlanReason.QUEUE_NOT_SEEN_THEN, at=iso(at))
        elif position.offset is None:
            targets[key] = stored_reason(PlanReason.NO_OFFSET_THEN, at=iso(at), why=position.reason)
        else:
            targets[key] = remade.why.get(key, position.offset)
    warnings = [_late({key: stood[key] for key in keys if isinstance(targets[key], int)}, at)]
    if not remade.is_known(now):
        warnings.append(stored_reason(ResetWarning.REMADE_UNKNOWN))
    return targets, tuple(filter(None, warnings))


@contextmanager
def _the_lake() -> Iterator[Lake]:
    """Raises ResetRefused where it cannot be read."""
    try:
        yield Lake.at(settings.CONSUMERSCOPE_LAKE)
    except (OSError, pa.ArrowException) as error:
        raise ResetRefused(stored_reason(PlanReason.HISTORY_UNREADABLE, error=str(error))) from error


def _check_nothing_is_missing(lake: Lake, table: str, cluster: str, since: datetime, until: datetime) -> None:
    """Raises ResetRefused where a file of the range is unreadable: it may have held the group's offset, or have shown
    that a queue was recreated."""
    if missing := put_aside_of(lake, table, cluster, since, until):
        raise ResetRefused(stored_reason(PlanReason.HISTORY_DAMAGED, files=len(missing), place=missing[0]))


def _late(stood: dict[QueueKey, Position], at: datetime) -> str | None:
    """Returns a warning where readings are older than the time between two polls, else None."""
    apart = timedelta(seconds=1.5 * settings.CONSUMERSCOPE_POLL_SECONDS)
    late = [(position.taken_at, key) for key, position in stood.items() if at - position.taken_at > apart]
    if not late:
        return None
    oldest, key = min(late, key=lambda found: found[0])
    return stored_reason(
        ResetWarning.LATE_READINGS,
        n=len(late),
        at=iso(at),
        age=age((at - oldest).total_seconds()),
        queue=str(key),
        oldest=iso(oldest),
    )


# Where another group of the same cluster stands, asked of its masters queue by queue.


def offsets_of(source: str, keys: Keys, ports: Ports) -> dict[QueueKey, int | str]:
    """By queue: the offset, or why there is none."""
    return ports.wire.run(_asked(source, sorted(keys), ports))


def check_source(cluster: str, source: str) -> tuple[str, ...]:
    """Warnings. Raises ResetRefused for a group whose progress is not what brokers hold."""
    group = ConsumerGroup.objects.filter(cluster__name=cluster, name=source).first()
    if group is None:
        raise ResetRefused(stored_reason(PlanReason.COPY_NO_GROUP, group=source, cluster=cluster))
    if group.message_model == BROADCASTING:
        raise ResetRefused(stored_reason(PlanReason.COPY_BROADCASTING, group=source))
    if group.outside_store is not None:
        raise ResetRefused(stored_reason(PlanReason.COPY_OUTSIDE_STORE, group=source, store=group.outside_store))
    warnings = [ResetWarning.COPY_AT_PLAN, *([ResetWarning.COPY_POPS] if group.consume_type == POPPING else [])]
    return tuple(stored_reason(code, group=source) for code in warnings)


async def _asked(source: str, keys: list[QueueKey], ports: Ports) -> dict[QueueKey, int | str]:
    masters = Masters(ports)
    return dict(zip(keys, await asyncio.gather(*(_offset(masters, source, key) for key in keys)), strict=True))


async def _offset(masters: Masters, source: str, key: QueueKey) -> int | str:
    master = masters.get(key.broker)
    if master is None:
        return stored_reason(PlanReason.COPY_NO_MASTER)
    try:
        offset = await master.ask(
            lambda admin, within: admin.consumer_offset(source, key.topic, key.queue_id, deadline_seconds=within)
        )
    except RocketMQError as error:
        return stored_reason(PlanReason.COPY_UNREAD, group=source, error=str(error))
    return stored_reason(PlanReason.COPY_NO_COMMIT, group=source) if offset is None else offset


# A worker that died while it wrote may have changed the queue.
MAY_HAVE_CHANGED = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK)


@dataclass(frozen=True)
class Given:
    """By queue its offset, or the stored reason why it has none: every queue that was asked for is there.

    `warnings`: for the plan's own.
    """

    offsets: Mapping[QueueKey, int | str]
    warnings: tuple[str, ...] = ()


# Targets that stand in rows: a list of offsets that was handed in, or what another reset found before it wrote.


def listed_offsets(reset: Reset) -> dict[QueueKey, int]:
    """Of an OFFSETS reset."""
    rows: list[dict[str, Any]] = reset.value or []
    return {QueueKey.of_entry(row): row["offset"] for row in rows}


def offsets_before(reset: Reset) -> dict[QueueKey, int | str]:
    """Of a RESTORE: of each queue that the other reset may have changed. Raises ResetRefused."""
    found = {QueueKey.of(row): _before(row) for row in touched(str(reset.value))}
    if not found:
        raise ResetRefused(stored_reason(PlanReason.NOTHING_TO_RESTORE))
    return found


def touched(reset_id: UUID | str) -> QuerySet[ResetQueue]:
    """Queues that the reset may have changed, also those that it left where they were after all."""
    rows = ResetQueue.objects.filter(reset_id=reset_id, step__in=MAY_HAVE_CHANGED)
    # No row is excluded for the method that it has not.
    return rows.filter(Q(method=None) | ~Q(method=ResetMethod.NOTHING))


def _before(row: ResetQueue) -> int | str:
    if row.outcome == ResetOutcome.UNCHANGED:
        return stored_reason(PlanReason.STAYED)
    if row.before is not None:
        return row.before
    return row.unknown.get("before") or stored_reason(PlanReason.NO_COMMIT_TO_RESTORE)


# What each target of the past gives. Not from within the wire's own loop. Raises ResetRefused.
# Masters and the history may take long: `kept` asks them.


def copied(reset: Reset, keys: Keys, ports: Ports, now: datetime, with_heartbeat: WithHeartbeat) -> Given:
    source = str(reset.value)
    warnings = check_source(reset.cluster_name, source)
    return Given(with_heartbeat(lambda: offsets_of(source, keys, ports)), warnings)


def of_then(reset: Reset, keys: Keys, ports: Ports, now: datetime, with_heartbeat: WithHeartbeat) -> Given:
    cluster, group, at = reset.cluster_name, reset.group_name, moment_of(str(reset.value))
    return Given(*with_heartbeat(lambda: targets_of_then(cluster, group, at, keys, now)))


def of_the_list(reset: Reset, keys: Keys, ports: Ports, now: datetime, with_heartbeat: WithHeartbeat) -> Given:
    return Given(_of(listed_offsets(reset), keys, stored_reason(PlanReason.NOT_LISTED)))


def from_before(reset: Reset, keys: Keys, ports: Ports, now: datetime, with_heartbeat: WithHeartbeat) -> Given:
    return Given(_of(offsets_before(reset), keys, stored_reason(PlanReason.NOT_CHANGED)))


def own_queues_of_then(reset: Reset, with_heartbeat: WithHeartbeat) -> tuple[QueueKey, ...]:
    """Those that the group had then, which brokers may have forgotten since; without its retry and dead-letter topics,
    unless they were chosen. Raises ResetRefused.
    """
    cluster, group, at = reset.cluster_name, reset.group_name, moment_of(str(reset.value))
    return with_heartbeat(lambda: queues_of_then(cluster, group, at, reset.topics))


def _of(
    offsets: Mapping[QueueKey, int] | Mapping[QueueKey, int | str], keys: Keys, why_not: str
) -> dict[QueueKey, int | str]:
    return {key: offsets.get(key, why_not) for key in keys}
