"""Offsets of a run that went back, with what the rows of the poll know around them.

Our own resets are known without a reading: a group may have regained its position before it is polled again. Takes
five queries where an offset went back, one otherwise.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from django.db.models import Q

from consumers.lake.store import Lake
from consumers.models import Assignment, ConsumerGroup, ResetMethod, ResetOutcome, ResetQueue
from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.columns import QUEUE
from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.pipeline.known import MOVED_WITHIN
from consumers.polling.record.totals import MAY_HAVE_MOVED
from consumers.vocabulary.states import BROADCASTING
from consumers.vocabulary.times import from_microseconds, microseconds

from .away_file import AwayFile, away_file
from .broker_readings import BrokerReadings, broker_readings
from .fallen import FallenQueue, ResetWrite, fallen_part
from .group_members import MemberSpan, member_spans, members_at, queue_moves, queue_reports
from .holders import (
    NO_REPORT_OLDER,
    begins_again,
    gave_up,
    has_kept,
    held_before,
    held_until,
    is_kept,
    is_of_holder,
    is_resumed,
)
from .parts import RepeatPart
from .returned import Absence, returned_rows
from .stored_history import HeldReport, Place, StoredHistory, broker_offsets

NUMBERS = ("from_offset", "broker_offset", "min_offset", "fastest", "was_lost", "before_us", "at_us")
# Members commit at least so often, unless somebody set them to.
COMMITTED_WITHIN = timedelta(seconds=5)


@dataclass(frozen=True)
class WrittenReset:
    """`since` and `until`: a reading may first show it then."""

    since: datetime
    until: datetime
    written_at: datetime | None
    write: ResetWrite


def fallen_parts(
    falls: pa.Table | None, gone: Sequence[Absence], lake: Lake, until: datetime, durations: Durations
) -> dict[int, list[RepeatPart]]:
    """By group id; `falls`: a table of kernel/falls.py. `gone`: absences of brokers that ended in the range."""
    stored = StoredHistory(lake)
    rows = _distinct([*(row for one in gone for row in returned_rows(one, stored, until)), *_listed(falls)])
    groups = _groups(rows)
    mine = [(groups[one["cluster"], one["group"]], one) for one in rows if (one["cluster"], one["group"]) in groups]
    if not mine:
        return {}
    around = Around.of([group for group, _ in mine], [one for _, one in mine], stored, until, durations)
    together = Counter((group.pk, one["at_us"]) for group, one in mine)
    found: dict[int, list[RepeatPart]] = defaultdict(list)
    for group, one in mine:
        if around.is_reset(group, one):
            continue
        fallen = around.fallen(group, one, together[group.pk, one["at_us"]])
        part = None if fallen is None else fallen_part(fallen)
        if part is not None:
            found[group.pk].append(part)
    return found


def reset_parts(clusters: Sequence[str], after: datetime, until: datetime) -> dict[int, list[RepeatPart]]:
    """Of queues that resets of ours moved back between these times, by group id."""
    rows = ResetQueue.objects.filter(written_at__gt=after, written_at__lt=until)
    wanted = rows.filter(reset__group__cluster__name__in=clusters).values_list("reset__group", flat=True).distinct()
    groups = ConsumerGroup.objects.select_related("judged").in_bulk(list(wanted))
    if not groups:
        return {}
    found: dict[int, list[RepeatPart]] = defaultdict(list)
    reports, clients = queue_reports(groups, after, until), member_spans(groups, after, until)
    ends = broker_offsets(groups)
    for (pk, place), resets in written_resets(groups, after, until).items():
        for one in resets:
            if one.written_at is None or not after < one.written_at < until or one.write.target >= one.write.before:
                continue
            end = ends.get((pk, place), one.write.before)
            held = held_until(reports.get((pk, place), ()), one.write.before, one.since, one.written_at)
            is_asked = groups[pk].membership_at is not None
            members = members_at(clients.get(pk, ()), one.since, one.written_at) if is_asked else None
            part = fallen_part(_of_reset(groups[pk], place, one, one.written_at, end, held, members))
            found[pk] += [part] if part is not None else []
    return found


def _of_reset(
    group: ConsumerGroup,
    place: Place,
    reset: WrittenReset,
    written_at: datetime,
    broker_offset: int,
    held: int | None,
    members: int | None,
) -> FallenQueue:
    judged = getattr(group, "judged", None)
    rate = judged.consume_rate if judged is not None else None
    return FallenQueue(
        before_us=microseconds(reset.since - COMMITTED_WITHIN),
        from_offset=reset.write.before,
        at_us=microseconds(written_at),
        to_offset=reset.write.target,
        topic=place[0],
        broker=place[1],
        queue_id=place[2],
        broker_offset=broker_offset,
        fastest=max(rate or 0.0, 0.0),
        held_until=held,
        reset=reset.write,
        members=members,
    )


def _listed(falls: pa.Table | None) -> list[dict[str, Any]]:
    return [] if falls is None else falls.to_pylist()


def _distinct(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Slices of a run overlap, and a step across an absence may be seen to fall."""
    return list({(*(one[name] for name in QUEUE), one["at_us"]): one for one in rows}.values())


def _groups(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], ConsumerGroup]:
    names = {one["group"] for one in rows}
    if not names:
        return {}
    found = ConsumerGroup.objects.filter(name__in=names, cluster__name__in={one["cluster"] for one in rows})
    # What brokers have of a broadcasting group is the least of its members, which come and go: broadcast.py.
    found = found.exclude(message_model=BROADCASTING)
    return {(group.cluster.name, group.name): group for group in found.select_related("cluster")}


@dataclass(frozen=True)
class Around:
    """What is known around falls of offsets."""

    resets: dict[tuple[int, Place], list[WrittenReset]]
    readings: Mapping[int, BrokerReadings]  # by cluster
    moves: dict[tuple[int, Place], list[tuple[datetime, datetime]]]
    clients: dict[int, list[MemberSpan]]
    reports: dict[tuple[int, Place], list[Assignment]]
    stored: StoredHistory
    until: datetime

    @classmethod
    def of(
        cls,
        groups: Sequence[ConsumerGroup],
        rows: Sequence[dict[str, Any]],
        stored: StoredHistory,
        until: datetime,
        durations: Durations,
    ) -> "Around":
        ids = {group.pk for group in groups}
        since, last = (
            from_microseconds(min(one["before_us"] for one in rows)),
            from_microseconds(max(one["at_us"] for one in rows)),
        )
        return cls(
            resets=written_resets(ids, since, until),
            readings=broker_readings({group.cluster_id for group in groups}, since, last),
            moves=queue_moves(ids, since, last, timedelta(seconds=durations.replay_after_move_seconds)),
            clients=member_spans(ids, since, last),
            reports=queue_reports(ids, since, until),
            stored=stored,
            until=until,
        )

    def is_reset(self, group: ConsumerGroup, one: dict[str, Any]) -> bool:
        key = group.pk, (one["topic"], one["broker"], one["queue_id"])
        since, at = from_microseconds(one["before_us"]), from_microseconds(one["at_us"])
        return any(since < reset.until and at >= reset.since for reset in self.resets.get(key, ()))

    def fallen(self, group: ConsumerGroup, one: dict[str, Any], together: int) -> FallenQueue | None:
        """None where an older offset, of a slave or of a broker that was away, is all, and nobody is known to have gone
        on from that."""
        place = (one["topic"], one["broker"], one["queue_id"])
        since, at = from_microseconds(one["before_us"]), from_microseconds(one["at_us"])
        reports = self.reports.get((group.pk, place), ())
        readings = self.readings[group.cluster_id]
        unread, slave = readings.unread(one["broker"], since, at), readings.slave(one["broker"], since, at)
        is_reported = one["was_behind"] or (unread and slave is None)
        behind = self._behind(group, place, one, reports) if is_reported else None
        file = self._file(group, place, one, behind, unread)
        given_up_by = None
        if behind is None and one["to_offset"] >= one["from_offset"]:
            given_up_by = self._given_up_by(group, place, one, unread, file)
            if file is None or given_up_by is None:
                return None
            one = {**one, "to_offset": file.offset}
        is_of_broker = bool(unread or slave or one["was_lost"])
        away = unread[0] if unread else None
        is_same_member = resumed = False
        held_to = held_until(reports, one["from_offset"], since, at) if away is None else None
        if is_of_broker:
            held = self.stored.held(group.cluster.name, since - NO_REPORT_OLDER, self.until)
            held_reports = held.get((group.name, place), ())
            answer_times = self.stored.answer_times(group.cluster.name, since - NO_REPORT_OLDER, self.until).get(
                group.name, {}
            )
            is_same_member = is_kept(reports, held_reports, one["from_offset"], since, at) or (
                away is not None and has_kept(held_reports, answer_times, one["from_offset"], away, at)
            )
            resumed = not is_same_member and is_resumed(reports, held_reports, one["from_offset"], away or at)
            held_to = held_to if away is None else held_before(reports, held_reports, one["from_offset"], since, away)
        fallen = FallenQueue(
            topic=place[0],
            broker=place[1],
            queue_id=place[2],
            to_offset=one["to_offset"],
            **{name: one[name] for name in NUMBERS},
            # What a broker has lost comes again from whoever has the queue then.
            is_move=not is_of_broker
            and any(begun <= at and since <= ended for begun, ended in self.moves.get((group.pk, place), ())),
            is_shared=self._is_shared(group.pk, place, since, at),
            held_until=held_to,
            is_kept=is_same_member,
            is_resumed=resumed,
            away_us=None if away is None else microseconds(away),
            back_us=microseconds(readings.last_asked(one["broker"], unread)) if unread else None,
            file=file,
            given_up_by=given_up_by,
            slave=slave,
            slave_offset=self._slave_offset(group, place, since, at) if one["was_behind"] else None,
            members=None if group.membership_at is None else members_at(self.clients.get(group.pk, ()), since, at),
            fell_together=together,
        )
        return fallen if behind is None else self._begun_behind(group, fallen, behind, since)

    def _given_up_by(
        self,
        group: ConsumerGroup,
        place: Place,
        one: dict[str, Any],
        unread: Sequence[datetime],
        file: AwayFile | None,
    ) -> str | None:
        """Returns the member that gave the queue up while an older file replaced that of its broker. Nobody replaces
        the file of a running broker. By the broker's first reading the next owner may have been past the old offset
        again."""
        if file is None or file.changed is None or file.offset is None or file.offset >= one["from_offset"]:
            return None
        since = from_microseconds(one["before_us"])
        span = group.cluster.name, since - NO_REPORT_OLDER, self.until
        held_reports = self.stored.held(*span).get((group.name, place), ())
        answer_times = self.stored.answer_times(*span).get(group.name, {})
        return gave_up(held_reports, answer_times, since, unread[0], from_microseconds(one["at_us"]))

    def _begun_behind(
        self, group: ConsumerGroup, fallen: FallenQueue, behind: HeldReport, since: datetime
    ) -> FallenQueue:
        """What a member reported in between is nearer to where it began than what its broker shows later."""
        later = fallen.to_offset
        shown_us = microseconds(behind.at)
        fallen = replace(fallen, shown_us=shown_us, to_offset=behind.offset, resumed_by=behind.client_id)
        if fallen.slave is not None:
            return replace(fallen, back_us=microseconds(self.readings[group.cluster_id].before(behind.at, since)))
        # Of a broker that is away nobody is given anything.
        assert fallen.away_us is not None
        earlier = self._answered_before(group, behind, from_microseconds(fallen.away_us))
        seconds = (fallen.at_us - shown_us) / MICROSECONDS
        regained = (later - behind.offset) / seconds if seconds > 0 else 0.0
        return replace(fallen, back_us=microseconds(earlier), regained=regained)

    def _is_shared(self, group: int, place: Place, since: datetime, at: datetime) -> bool:
        """Two processes with one id held the queue: each commits what it has itself, in turn."""
        shared = {
            one.client_id
            for one in self.clients.get(group, ())
            if one.doubled is not None and one.doubled <= at and (one.gone is None or one.gone > since)
        }
        return any(one.client_id in shared and one.seen_since <= at for one in self.reports.get((group, place), ()))

    def _answered_before(self, group: ConsumerGroup, behind: HeldReport, away: datetime) -> datetime:
        """When the member had last reported before, without the queue or while it had it before."""
        answer_times = self.stored.answer_times(group.cluster.name, away, self.until).get(group.name, {})
        own = (at for at in answer_times.get(behind.client_id, ()) if at < behind.at)
        return max(own, default=away)

    def _slave_offset(self, group: ConsumerGroup, place: Place, since: datetime, at: datetime) -> int | None:
        """The oldest that was read: a slave's own moves on only."""
        readings = self.stored.offsets(group.cluster.name, {place[1]}, {group.name}, since, at)
        known = (one.slave_offset for one in readings.get((group.name, place), ()))
        return min((one for one in known if one is not None), default=None)

    def _behind(
        self, group: ConsumerGroup, place: Place, one: dict[str, Any], reports: Sequence[Assignment]
    ) -> HeldReport | None:
        """The lowest offset that a member reported meanwhile, which began at an older one: of a slave, or of a broker
        that was away."""
        since, at = from_microseconds(one["before_us"]), from_microseconds(one["at_us"])
        lowest = one["from_offset"] if one["was_behind"] else min(one["from_offset"], one["to_offset"])
        held_reports = self.stored.held(group.cluster.name, since - NO_REPORT_OLDER, self.until).get(
            (group.name, place), ()
        )
        found = [
            report
            for report in held_reports
            if since < report.at <= at
            and report.offset < lowest
            and (begins_again(report, held_reports) or not any(is_of_holder(row, report, since) for row in reports))
        ]
        return min(found, key=lambda report: (report.offset, report.at), default=None)

    def _file(
        self,
        group: ConsumerGroup,
        place: Place,
        one: dict[str, Any],
        behind: HeldReport | None,
        unread: Sequence[datetime],
    ) -> AwayFile | None:
        if not group.cluster.offset_files or not unread:
            return None
        at = from_microseconds(one["at_us"])
        files = self.stored.broker_files(group.cluster.name, place[1], unread[0], at)
        readings = files.readings.get((group.name, place), ())
        shown = one["to_offset"] if behind is None else behind.offset
        # Of a queue that did not fall the file may have been written since, too.
        is_later = behind is not None or one["to_offset"] >= one["from_offset"]
        return away_file(readings, files.missing, one["from_offset"], unread, at, shown, is_later=is_later)


def written_resets(
    groups: Collection[int], since: datetime, until: datetime
) -> dict[tuple[int, Place], list[WrittenReset]]:
    """What resets of ours wrote to queues, with the span in which a reading may first show it."""
    rows = ResetQueue.objects.filter(
        reset__group__in=groups,
        step__in=MAY_HAVE_MOVED,
        before_at__isnull=False,
        before_at__lt=until,
        before__isnull=False,
        target__isnull=False,
    ).filter(Q(written_at__isnull=True) | Q(written_at__gte=since - MOVED_WITHIN) | Q(after_at__gte=since))
    found: dict[tuple[int, Place], list[WrittenReset]] = defaultdict(list)
    for row in rows.exclude(method=ResetMethod.NOTHING).select_related("reset"):
        assert row.before_at is not None
        assert row.before is not None
        assert row.moved_to is not None
        assert row.reset.group_id is not None
        end = max(at for at in (row.before_at, row.written_at, row.after_at or until) if at is not None)
        is_confirmed = row.outcome == ResetOutcome.CONFIRMED
        write = ResetWrite(str(row.reset_id), row.before, row.moved_to, is_confirmed)
        key = row.reset.group_id, (row.topic, row.broker, row.queue_id)
        found[key].append(WrittenReset(row.before_at, end + MOVED_WITHIN, row.written_at, write))
    return found
