"""Stores a reading: history first, then rows. The only writer of entities, snapshots, totals and readings in the lake.

After a crash between the two stores, the next reading writes the missing rows: it compares with the database, and
memory is updated only after the database was written.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.db import transaction

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup, GroupKind, GroupTotal, LossAcknowledgement, Reading
from consumers.polling.brokers.dispatch_backlog import limit_bytes
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.kind_limits import KindLimits
from consumers.polling.reading import GroupMembers, MembersReading, OffsetsReading
from consumers.polling.record.brokers import (
    GroupBrokers,
    broker_entries,
    record_brokers,
    record_group_config,
    record_reads,
    record_topic_config,
    write_only_queues,
)
from consumers.polling.record.lost_offsets import LOST_AT, GivenUp, Losses, remembering, without_older
from consumers.polling.samples.reading import SamplesReading
from consumers.rocketmq.names import DLQ_PREFIX
from consumers.vocabulary.states import MASTER, UnknownReason, of_broker
from consumers.vocabulary.times import microseconds

from .delays import record_samples
from .history import reading_columns, reading_rows, write_history
from .intervals import record_unsubscribed
from .keyed_rows import EntityIds, RowQueues
from .members import record_members
from .snapshots import Columns, changed, forget, stored_columns, write
from .totals import GroupKinds, Moves, totals, write_totals
from .waiting import by_waiting, ends_read, with_first_stored

# How often each group was without a member, by day: this distinguishes a habit from a crash.
# Counts are stored every ten minutes, because 10,000 groups must not cost 10,000 writes a reading. A process that ends
# loses its unstored counts: up to ten minutes of answers are then missing from both counts of a group.

HELD_BACK = timedelta(minutes=10)
AT_ONCE = 1000
KEPT = timedelta(days=7)  # before today

Counts = dict[str, list[int]]  # day: full answers, those of them without a member


@dataclass
class Presence:
    """`held`: the counts that are not stored yet, by group, and when the first of them was made."""

    held: dict[int, tuple[datetime, Counts]] = field(default_factory=dict)

    def note(self, ids: EntityIds, answers: Iterable[GroupMembers], now: datetime) -> None:
        """Counts the complete answers, and stores counts that were held for long enough, the oldest first."""
        day = now.date().isoformat()
        for answer in answers:
            pk = ids.groups.get(answer.group)
            if pk is None or not answer.complete:
                continue
            _, counts = self.held.setdefault(pk, (now, {}))
            today = counts.setdefault(day, [0, 0])
            today[0] += 1
            today[1] += not answer.members
        due = sorted((since, pk) for pk, (since, _) in self.held.items() if now - since >= HELD_BACK)
        self._store([pk for _, pk in due[:AT_ONCE]], now)

    def _store(self, due: list[int], now: datetime) -> None:
        rows = list(ConsumerGroup.objects.filter(pk__in=due).only("presence"))
        for row in rows:
            row.presence = added(row.presence, self.held[row.pk][1], now)
        ConsumerGroup.objects.bulk_update(rows, ["presence"], batch_size=200)
        for pk in due:
            del self.held[pk]


def added(stored: Counts, counts: Counts, now: datetime) -> Counts:
    """The sum of both, without days older than KEPT."""
    first = (now - KEPT).date().isoformat()
    days = sorted(day for day in stored.keys() | counts.keys() if day >= first)
    none = [0, 0]
    return {day: [a + b for a, b in zip(stored.get(day, none), counts.get(day, none), strict=True)] for day in days}


# Acknowledged losses: their queues count as never committed, and still show the lost offset.


def apply_acknowledgements(cluster: Cluster, stored: Columns, now: datetime) -> Columns:
    """Writes the rows that an acknowledgement concerns. Offsets lost after the acknowledgement stay lost. Takes one
    query.
    """
    waiting = list(LossAcknowledgement.objects.filter(group__cluster=cluster, applied_at=None))
    if not waiting:
        return stored
    until = {row.group_id: max(one.at for one in waiting if one.group_id == row.group_id) for row in waiting}
    lost = stored.reasons.is_in([UnknownReason.OFFSET_LOST])
    chosen = np.zeros(len(stored.keys), bool)
    for group, at in until.items():
        chosen |= lost & (stored.groups == group) & (stored.offsets[:, LOST_AT] <= microseconds(at))
    after = stored.with_reason(chosen, UnknownReason.NEVER_COMMITTED)
    write(after.take(chosen), now)
    LossAcknowledgement.objects.filter(pk__in=[row.pk for row in waiting]).update(applied_at=now)
    return after


READ_AT = ("name", "last_read_at")

logger = logging.getLogger(__name__)

# Key in a reading's `members`: why its history is missing.
HISTORY_ERROR = "history_error"
BELOW_FLOOR = "the lake's disk is too full"
# The key of no reading: a part of one is remembered that may not be stored.
UNFINISHED = 0


@dataclass
class Recorder:
    """One per cluster and process: remembers the database's rows of the cluster."""

    cluster: Cluster
    ids: EntityIds
    stored: Columns
    moves: Moves
    group_brokers: GroupBrokers = field(default_factory=GroupBrokers)
    presence: Presence = field(default_factory=Presence)
    newest: int | None = None  # the reading's row up to which that is so
    read_at: dict[str, datetime] = field(default_factory=dict)  # the last good reading of each broker
    broadcasting: set[str] = field(default_factory=set)  # groups of which a reading had offsets of members
    given_up: GivenUp = frozenset()  # by the newest reading

    @classmethod
    def of(cls, cluster: Cluster) -> "Recorder":
        newest = newest_reading(cluster)
        stored = stored_columns(cluster, kind_in_group)
        configs = GroupBrokers.of(cluster)
        read_at = dict(cluster.brokers.filter(broker_id=MASTER, last_read_at__isnull=False).values_list(*READ_AT))
        return cls(cluster, EntityIds.of(cluster), stored, Moves.of(cluster), configs, newest=newest, read_at=read_at)

    def record(
        self,
        reading: OffsetsReading,
        members: MembersReading | None,
        lake: Lake | None,
        samples: SamplesReading | None = None,
    ) -> Reading:
        """Writes everything of one reading. Without a lake (its disk is full), or if the lake cannot be written, rows
        are stored, history is not, and the reading says so.
        """
        self._catch_up()
        self.newest = UNFINISHED
        self.stored = apply_acknowledgements(self.cluster, self.stored, reading.taken_at)
        kinds = GroupKinds.of(self.cluster, reading.taken_at, KindLimits.of(settings.JUDGE))
        rows = reading_rows(reading, members, samples.holding if samples else {})
        rows = kinds.marked(without_older(rows, reading, self.stored, self.ids, self.cluster))
        broadcasting = self._broadcasting(reading)
        losses = Losses(self.stored, self.ids, kinds, broadcasting)
        rows, self.given_up = losses.marked(rows, reading)
        unwritten = BELOW_FLOOR if lake is None else _why_not_written(lake, rows, reading, members)
        queues = RowQueues.of(rows)
        self._make_entities(reading, members, rows, queues)
        with transaction.atomic():
            record_brokers(self.cluster, reading)
            record_group_config(self.cluster, reading)
            for broker in reading.brokers:
                record_topic_config(self.cluster, self.ids, broker, reading.taken_at)
        self.group_brokers.record(self.cluster, self.ids, reading)
        self._record_snapshots(reading, reading_columns(rows, queues, self.ids), kinds, broadcasting)
        if members is not None:
            stand_ins = {broker.name for broker in reading.brokers if broker.read_from is not None}
            record_members(self.cluster, self.ids, members, stand_ins, longest_silence())
            record_unsubscribed(self.cluster, members, rows)
            self.presence.note(self.ids, members.groups, members.taken_at)
        if samples is not None:
            record_samples(self.ids, samples)
        # Last: whoever is stopped before has written no old number as one of now.
        with transaction.atomic():
            record_reads(self.cluster, reading)
            row = self._record_reading(reading, members, samples, unwritten)
        self.newest = newest_reading(self.cluster)
        return row

    def _catch_up(self) -> None:
        """Loads the rows of a newer reading, for example of a poll by hand, and those that a reading left which the
        database did not take whole: the next reading is compared with them.
        """
        if newest_reading(self.cluster) != self.newest:
            fresh = Recorder.of(self.cluster)
            fresh.ids.configured = self.ids.configured
            self.ids, self.stored, self.moves = fresh.ids, fresh.stored, fresh.moves
            self.group_brokers, self.read_at = fresh.group_brokers, fresh.read_at

    def _broadcasting(self, reading: OffsetsReading) -> set[int]:
        """Groups whose offsets leave the brokers with their members, as members or brokers report."""
        self.broadcasting |= {group for broker in reading.brokers for group in broker.broadcasting}
        reported = self.cluster.groups.filter(message_model="BROADCASTING").values_list("pk", flat=True)
        return {self.ids.groups[name] for name in self.broadcasting if name in self.ids.groups} | set(reported)

    def _make_entities(
        self, reading: OffsetsReading, members: MembersReading | None, rows: pa.Table, row_queues: RowQueues
    ) -> None:
        groups = set(pc.unique(rows["group"]).to_pylist())
        queues = set(row_queues.keys)
        if members is not None:
            groups |= {answer.group for answer in members.groups if answer.members}
            # A queue can have an owner before its first commit.
            queues |= {(q.topic, q.broker, q.queue_id) for client in members.clients for q in client.queues}
        queues |= write_only_queues(reading, {topic for topic, _, _ in queues})
        with transaction.atomic():
            self.ids.make_groups(self.cluster, groups, reading.taken_at)
            self.ids.make_queues(self.cluster, queues, reading.taken_at)

    def _record_snapshots(
        self, reading: OffsetsReading, fresh: Columns, kinds: GroupKinds, broadcasting: set[int]
    ) -> None:
        read = {broker.name for broker in reading.brokers if broker.read}
        on_read_brokers = self.stored.brokers.is_in(read)
        gone = self.stored.take(on_read_brokers & ~fresh.has(self.stored.keys))
        unread = self.stored.take(~on_read_brokers)
        # A broadcasting group's offset leaves the broker with its members: the queue stays, and its lag is unknown.
        silent = np.isin(gone.groups, list(broadcasting))
        unreported = gone.take(silent).with_reason(np.ones(int(silent.sum()), bool), UnknownReason.NOT_REPORTED)
        last = Reading.objects.filter(cluster=self.cluster).first()
        after = remembering(fresh.joined(unreported), self.stored, self.read_at)
        after = with_first_stored(after, self.stored, ends_read(last), reading.taken_at)
        for part, waiting in by_waiting(self.stored, after, changed(self.stored, after), reading.taken_at):
            write(after.take(part), reading.taken_at, **waiting)
        forget(gone.take(~silent))
        limits = KindLimits.of(settings.JUDGE)
        self.moves.note(self.stored, after, self.ids, read, reading.taken_at, limits)
        self.stored = after.joined(unread)
        self.read_at |= dict.fromkeys(read, reading.taken_at)
        self._record_totals(reading, read, kinds, last.taken_at if last else None)

    def _record_totals(
        self, reading: OffsetsReading, read: set[str], kinds: GroupKinds, last_taken_at: datetime | None
    ) -> None:
        errors = {broker.name: broker.error for broker in reading.brokers if not broker.read}
        rows = self.stored
        for name in rows.brokers.distinct():
            if name is not None and name not in read:
                error = errors.get(name, reading.error)
                reason = of_broker(UnknownReason.BROKER_UNREACHABLE, name, error)
                rows = rows.with_reason(rows.brokers.is_in([name]), reason)
        groups = sorted(self.ids.groups.values())
        sums = totals(
            rows, groups, self._dead_letters(reading), self._never_read(reading), kinds, brokers_behind(reading)
        )
        write_totals(self.cluster, sums, reading.taken_at, last_taken_at)

    def _never_read(self, reading: OffsetsReading) -> str | None:
        known = set(self.cluster.brokers.filter(last_read_at__isnull=False).values_list("name", flat=True))
        never = [broker for broker in reading.brokers if not broker.read and broker.name not in known]
        return of_broker(UnknownReason.BROKER_NEVER_READ, never[0].name, never[0].error) if never else None

    def _dead_letters(self, reading: OffsetsReading) -> dict[int, int | None]:
        """Messages in each group's own dead-letter topic; known only if every broker was read."""
        if not reading.complete:
            return {}
        dead = pa.concat_tables([part.dead_letters for part in reading.brokers if part.dead_letters is not None])
        counts: dict[str, int | None] = {}
        columns = (dead[name].to_pylist() for name in ("topic", "broker_offset", "min_offset"))
        for topic, end, least in zip(*columns, strict=True):
            group = topic.removeprefix(DLQ_PREFIX)
            known = counts.get(group, 0)
            counts[group] = None if known is None or end is None or least is None else known + end - least
        user = set(self.cluster.groups.filter(kind=GroupKind.USER).values_list("name", flat=True))
        found = {pk: counts.get(name, 0) for name, pk in self.ids.groups.items() if name in user}
        if all(broker.read_from is None for broker in reading.brokers):
            return found
        # A slave has no more than its master had: a lower count proves no decrease, and an unknown count stays unknown.
        before = dict(GroupTotal.objects.filter(group__cluster=self.cluster).values_list("group", "dlq_messages"))
        return {pk: None if _is_less(number, before.get(pk, number)) else number for pk, number in found.items()}

    def _record_reading(
        self,
        reading: OffsetsReading,
        members: MembersReading | None,
        samples: SamplesReading | None,
        unwritten: str | None,
    ) -> Reading:
        answered: dict[str, Any] = {"groups_read": 0, "clients_read": 0, "calls": 0, "seconds": 0.0}
        if members is not None:
            answered = dict(members.summary)
        if samples is not None:
            answered["samples"] = samples.summary
        if unwritten is not None:
            answered[HISTORY_ERROR] = unwritten
        return Reading.objects.update_or_create(
            cluster=self.cluster,
            taken_at=reading.taken_at,
            defaults={
                "complete": reading.complete,
                "brokers": broker_entries(reading),
                "error": reading.error,
                "queues": reading.queues,
                "calls": reading.calls,
                "bytes": reading.bytes,
                "seconds": reading.seconds,
                "members": answered,
            },
        )[0]


def brokers_behind(reading: OffsetsReading) -> dict[str, int]:
    """Brokers whose lags are lower bounds, as they are behind with their dispatch; and by how many bytes."""
    limit = limit_bytes()
    read = [(part.name, part.dispatch) for part in reading.brokers if part.read and part.dispatch is not None]
    found = [(name, dispatch.hides_more_than(limit)) for name, dispatch in read]
    return {name: behind_bytes for name, behind_bytes in found if behind_bytes is not None}


def _is_less(number: int | None, before: int | None) -> bool:
    return number is None or before is None or number < before


def _why_not_written(lake: Lake, rows: pa.Table, reading: OffsetsReading, members: MembersReading | None) -> str | None:
    """Null if the history was written. Failing to write the history does not invalidate a reading that brokers
    answered.
    """
    try:
        write_history(lake, rows, reading, members)
    except (OSError, pa.ArrowException) as error:
        logger.exception("The history of %s at %s could not be written.", reading.cluster, reading.taken_at)
        return " ".join(str(error).split()) or type(error).__name__
    return None


def longest_silence() -> timedelta:
    """One or two polls may fail; after a longer silence, events in between are unknown."""
    return timedelta(seconds=max(3 * settings.CONSUMERSCOPE_POLL_SECONDS, 120))


def newest_reading(cluster: Cluster) -> int | None:
    return Reading.objects.filter(cluster=cluster).values_list("pk", flat=True).first()
