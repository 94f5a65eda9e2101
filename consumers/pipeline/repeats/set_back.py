"""Offsets of a run that went back, with what the rows of the poll know around them.

Our own resets are known without a reading: a group may have regained its position before it is polled again. Takes
five queries where an offset went back, one otherwise.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import Q

from consumers.lake import reader
from consumers.lake.schemas import TIME
from consumers.lake.store import Lake
from consumers.models import (
    Assignment,
    Client,
    ConsumerGroup,
    QueueSnapshot,
    Reading,
    Rebalance,
    ResetMethod,
    ResetOutcome,
    ResetQueue,
)
from consumers.pipeline.durations import Durations
from consumers.pipeline.known import MOVED_WITHIN
from consumers.pipeline.slices import microseconds, moment
from consumers.polling.record.totals import TOLD
from consumers.rocketmq.client_defaults import MOST_THREADS
from consumers.stores.exposure import STANDS

from .fallen import FallenQueue, ResetWrite, fallen_part
from .parts import RepeatPart

Place = tuple[str, str, int]
NUMBERS = ("from_offset", "to_offset", "broker_offset", "min_offset", "fastest", "was_lost", "before_us", "at_us")
NO_REPORT_OLDER = timedelta(seconds=60)
# Members commit at least so often, unless somebody set them to.
COMMITTED_WITHIN = timedelta(seconds=5)


class MemberSpan(NamedTuple):
    """A member while brokers listed it. `doubled`: since when two processes share its id."""

    client_id: str
    seen: datetime
    gone: datetime | None
    doubled: datetime | None


@dataclass(frozen=True)
class WrittenReset:
    """`since` and `until`: a reading may first show it then."""

    since: datetime
    until: datetime
    written_at: datetime | None
    write: ResetWrite


def fallen_parts(falls: pa.Table, lake: Lake, until: datetime, durations: Durations) -> dict[int, list[RepeatPart]]:
    """By group id; `falls`: a table of kernel/falls.py."""
    rows = _distinct(falls)
    groups = _groups(rows)
    mine = [(groups[one["cluster"], one["group"]], one) for one in rows if (one["cluster"], one["group"]) in groups]
    if not mine:
        return {}
    around = Around.of([group for group, _ in mine], [one for _, one in mine], lake, until, durations)
    together = Counter((group.pk, one["at_us"]) for group, one in mine)
    found: dict[int, list[RepeatPart]] = defaultdict(list)
    for group, one in mine:
        if around.is_reset(group, one):
            continue
        part = fallen_part(around.fallen(group, one, together[group.pk, one["at_us"]]))
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
    reports, clients = _reports(groups, after, until), _clients(groups, after, until)
    ends = _broker_offsets(groups)
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


def _distinct(falls: pa.Table) -> list[dict[str, Any]]:
    """Slices of a run overlap."""
    rows = {(*(one[name] for name in falls.column_names[:5]), one["at_us"]): one for one in falls.to_pylist()}
    return list(rows.values())


def _groups(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], ConsumerGroup]:
    names = {one["group"] for one in rows}
    if not names:
        return {}
    found = ConsumerGroup.objects.filter(name__in=names, cluster__name__in={one["cluster"] for one in rows})
    return {(group.cluster.name, group.name): group for group in found.select_related("cluster")}


@dataclass(frozen=True)
class Around:
    """What is known around falls of offsets."""

    resets: dict[tuple[int, Place], list[WrittenReset]]
    readings: dict[int, list[tuple[datetime, dict[str, dict[str, Any]]]]]  # by cluster, oldest first
    moves: dict[tuple[int, Place], list[tuple[datetime, datetime]]]
    clients: dict[int, list[MemberSpan]]
    reports: dict[tuple[int, Place], list[Assignment]]
    lake: Lake

    @classmethod
    def of(
        cls,
        groups: Sequence[ConsumerGroup],
        rows: Sequence[dict[str, Any]],
        lake: Lake,
        until: datetime,
        durations: Durations,
    ) -> "Around":
        ids = {group.pk for group in groups}
        since, last = moment(min(one["before_us"] for one in rows)), moment(max(one["at_us"] for one in rows))
        return cls(
            resets=written_resets(ids, since, until),
            readings=_readings({group.cluster_id for group in groups}, since, last),
            moves=_moves(ids, since, last, timedelta(seconds=durations.replay_after_move_seconds)),
            clients=_clients(ids, since, last),
            reports=_reports(ids, since, last),
            lake=lake,
        )

    def is_reset(self, group: ConsumerGroup, one: dict[str, Any]) -> bool:
        key = group.pk, (one["topic"], one["broker"], one["queue_id"])
        since, at = moment(one["before_us"]), moment(one["at_us"])
        return any(since < reset.until and at >= reset.since for reset in self.resets.get(key, ()))

    def fallen(self, group: ConsumerGroup, one: dict[str, Any], together: int) -> FallenQueue:
        place = (one["topic"], one["broker"], one["queue_id"])
        since, at = moment(one["before_us"]), moment(one["at_us"])
        away = self._away(group.cluster_id, one["broker"], since, at)
        return FallenQueue(
            topic=place[0],
            broker=place[1],
            queue_id=place[2],
            **{name: one[name] for name in NUMBERS},
            is_move=any(begun <= at and since <= ended for begun, ended in self.moves.get((group.pk, place), ())),
            is_shared=self._is_shared(group.pk, place, since, at),
            held_until=held_until(self.reports.get((group.pk, place), ()), one["from_offset"], since, at),
            is_kept=is_kept(self.reports.get((group.pk, place), ()), one["from_offset"], since, at),
            gap=away is not None,
            slave=self._slave(group.cluster_id, one["broker"], at),
            file_modified=None if away is None else self._file_modified(group, one["broker"], away, at),
            members=None if group.membership_at is None else members_at(self.clients.get(group.pk, ()), since, at),
            fell_together=together,
        )

    def _is_shared(self, group: int, place: Place, since: datetime, at: datetime) -> bool:
        """Two processes with one id held the queue: each commits what it has itself, in turn."""
        shared = {
            one.client_id
            for one in self.clients.get(group, ())
            if one.doubled is not None and one.doubled <= at and (one.gone is None or one.gone > since)
        }
        return any(one.client_id in shared and one.seen_since <= at for one in self.reports.get((group, place), ()))

    def _away(self, cluster: int, broker: str, since: datetime, at: datetime) -> datetime | None:
        """The first reading in between that did not get the broker's answer."""
        for taken_at, brokers in self.readings.get(cluster, ()):
            if since < taken_at < at and not brokers.get(broker, {}).get("read"):
                return taken_at
        return None

    def _slave(self, cluster: int, broker: str, at: datetime) -> str | None:
        brokers = next((found for taken_at, found in self.readings.get(cluster, ()) if taken_at == at), {})
        return brokers.get(broker, {}).get("read_from")

    def _file_modified(self, group: ConsumerGroup, broker: str, away: datetime, at: datetime) -> str | None:
        """When the broker's offset file was written while the broker did not answer."""
        if not group.cluster.offset_files:
            return None
        name, chosen = group.cluster.name, pc.field("broker") == broker
        time = pc.field("taken_at")
        chosen &= (pc.field("kind") == "broker_file") & (time >= pa.scalar(away, TIME)) & (time < pa.scalar(at, TIME))

        def rows(files: list[str]) -> pa.Table:
            return reader.dataset(self.lake, "stored_offsets", files).to_table(columns=["modified_at"], filter=chosen)

        found = reader.steadily(self.lake, lambda: reader.files(self.lake, "stored_offsets", name, away, at), rows)
        times = [one for one in pc.unique(found["modified_at"]).to_pylist() if one is not None and away < one < at]
        return min(times).strftime("%Y-%m-%dT%H:%M:%S.%fZ") if times else None


def members_at(clients: Sequence[MemberSpan], since: datetime, at: datetime) -> int:
    return sum(one.seen <= at and (one.gone is None or one.gone > since) for one in clients)


def held_until(reports: Sequence[Assignment], from_offset: int, since: datetime, at: datetime) -> int | None:
    """The end of what its owner held when it last reported before; null where that is not known, or too old, or where
    it may have finished more behind a first message that stood."""
    spoken = [one for one in reports if since - NO_REPORT_OLDER <= one.last_seen <= at]
    if not spoken:
        return None
    newest = max(spoken, key=lambda one: one.last_seen)
    if newest.cached_max is None:
        return newest.commit_offset
    stands = newest.head_since is not None and newest.last_seen - newest.head_since >= STANDS
    if stands and (newest.cached_count is None or newest.cached_count <= MOST_THREADS):
        return None
    end = newest.cached_max + 1
    in_flight = 0 if newest.commit_offset is None else max(end - newest.commit_offset, 0)
    return max(end, from_offset + in_flight)


def is_kept(reports: Sequence[Assignment], from_offset: int, since: datetime, at: datetime) -> bool:
    """A member that held the queue all the time reported later that it is past the offset."""
    return any(
        one.seen_since <= since and one.last_seen > at and (one.commit_offset or 0) >= from_offset for one in reports
    )


def _broker_offsets(groups: Collection[int]) -> dict[tuple[int, Place], int]:
    rows = QueueSnapshot.objects.filter(group__in=groups, broker_offset__isnull=False)
    names = ("group_id", "queue__topic__name", "queue__broker", "queue__queue_id", "broker_offset")
    return {(group, (topic, broker, queue)): end for group, topic, broker, queue, end in rows.values_list(*names)}


def written_resets(
    groups: Collection[int], since: datetime, until: datetime
) -> dict[tuple[int, Place], list[WrittenReset]]:
    """What resets of ours wrote to queues, with the span in which a reading may first show it."""
    rows = ResetQueue.objects.filter(
        reset__group__in=groups,
        step__in=TOLD,
        before_at__isnull=False,
        before_at__lt=until,
        before__isnull=False,
        target__isnull=False,
    ).filter(Q(written_at__isnull=True) | Q(written_at__gte=since - MOVED_WITHIN) | Q(after_at__gte=since))
    found: dict[tuple[int, Place], list[WrittenReset]] = defaultdict(list)
    for row in rows.exclude(method=ResetMethod.NOTHING).select_related("reset"):
        assert row.before_at is not None
        assert row.before is not None
        assert row.target is not None
        assert row.reset.group_id is not None
        end = max(at for at in (row.before_at, row.written_at, row.after_at or until) if at is not None)
        is_confirmed = row.outcome == ResetOutcome.CONFIRMED
        write = ResetWrite(str(row.reset_id), row.before, row.target, is_confirmed)
        key = row.reset.group_id, (row.topic, row.broker, row.queue_id)
        found[key].append(WrittenReset(row.before_at, end + MOVED_WITHIN, row.written_at, write))
    return found


def _readings(clusters: set[int], since: datetime, until: datetime) -> dict[int, list[tuple[datetime, dict[str, Any]]]]:
    found: dict[int, list[tuple[datetime, dict[str, Any]]]] = defaultdict(list)
    rows = Reading.objects.filter(cluster__in=clusters, taken_at__gte=since, taken_at__lte=until)
    for cluster, at, brokers in rows.order_by("taken_at").values_list("cluster_id", "taken_at", "brokers"):
        found[cluster].append((at, {one["name"]: one for one in brokers}))
    return found


def _moves(
    groups: Collection[int], since: datetime, until: datetime, slack: timedelta
) -> dict[tuple[int, Place], list[tuple[datetime, datetime]]]:
    """When queues went from one owner to another. One that nobody held has an offset that no owner sets back."""
    found: dict[tuple[int, Place], list[tuple[datetime, datetime]]] = defaultdict(list)
    rows = Rebalance.objects.filter(
        group__in=groups, started_before__lte=until + slack, last_change_at__gte=since - slack
    )
    for row in rows.prefetch_related("topics"):
        span = (row.started_after or row.started_before) - slack, (row.settled_at or row.last_change_at) + slack
        for topic in row.topics.all():
            for move in topic.moves:
                if move["before"] and move["after"] is not None and move["before"] != move["after"]:
                    found[row.group_id, (topic.topic, move["broker"], move["queue_id"])].append(span)
    return found


def _clients(groups: Collection[int], since: datetime, until: datetime) -> dict[int, list[MemberSpan]]:
    found: dict[int, list[MemberSpan]] = defaultdict(list)
    rows = Client.objects.filter(Q(gone_by=None) | Q(gone_by__gt=since), group__in=groups, seen_since__lte=until)
    names = ("group_id", "client_id", "seen_since", "gone_by", "duplicated_since")
    for group, client_id, seen, gone, doubled in rows.values_list(*names):
        found[group].append(MemberSpan(client_id, seen, gone, doubled))
    return found


def _reports(groups: Collection[int], since: datetime, until: datetime) -> dict[tuple[int, Place], list[Assignment]]:
    found: dict[tuple[int, Place], list[Assignment]] = defaultdict(list)
    rows = Assignment.objects.filter(group__in=groups, last_seen__gte=since - NO_REPORT_OLDER, seen_since__lte=until)
    for row in rows.select_related("queue__topic"):
        found[row.group_id, (row.queue.topic.name, row.queue.broker, row.queue.queue_id)].append(row)
    return found
