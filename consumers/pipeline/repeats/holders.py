"""The owner of a queue around the time that its offset went back: how far the owner was, whether it kept the queue, and
whether another member took the queue."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from consumers.models import Assignment
from consumers.rocketmq.bodies.client_bodies import MOST_THREADS
from consumers.stores.exposure import STANDS

from .stored_history import HeldReport

NO_REPORT_OLDER = timedelta(seconds=60)


def held_until(reports: Sequence[Assignment], from_offset: int, since: datetime, at: datetime) -> int | None:
    """Returns the end of the messages that the owner last reported to hold. Returns None where that is unknown or too
    old, or where the owner may have finished more behind a stuck first message."""
    recent = [one for one in reports if since - NO_REPORT_OLDER <= one.last_seen <= at]
    if not recent:
        return None
    newest = max(recent, key=lambda one: one.last_seen)
    if newest.cached_max is None:
        return newest.commit_offset
    is_stuck = newest.head_since is not None and newest.last_seen - newest.head_since >= STANDS
    if is_stuck and (newest.cached_count is None or newest.cached_count <= MOST_THREADS):
        return None
    end = newest.cached_max + 1
    in_flight = 0 if newest.commit_offset is None else max(end - newest.commit_offset, 0)
    return max(end, from_offset + in_flight)


def held_before(
    reports: Sequence[Assignment], held_reports: Sequence[HeldReport], from_offset: int, since: datetime, away: datetime
) -> int | None:
    """The same where its broker went away: who took the queue later holds nothing of what was held then."""
    known = held_until([row for row in reports if row.seen_since <= away], from_offset, since, away)
    earlier = [one for one in held_reports if since - NO_REPORT_OLDER <= one.at <= away]
    if not earlier:
        return known
    newest = earlier[-1]
    first = next(one.at for one in earlier if (one.client_id, one.offset) == (newest.client_id, newest.offset))
    if known is None and newest.held_until is not None and newest.at - first >= STANDS:
        return None
    return max([known or 0, *(one.held_until or one.offset for one in earlier)])


def is_kept(
    reports: Sequence[Assignment], held_reports: Sequence[HeldReport], from_offset: int, since: datetime, at: datetime
) -> bool:
    """A member that held the queue all the time reported later that it is past the offset, and never to be below."""
    return any(
        row.seen_since <= since
        and row.last_seen > at
        and (row.commit_offset or 0) >= from_offset
        # While brokers are away nobody can say who left: a process that began anew, or a queue that was taken anew,
        # shows by its own reports.
        and _is_one_stretch([one for one in held_reports if one.client_id == row.client_id], from_offset, since)
        for row in reports
    )


def has_kept(
    held_reports: Sequence[HeldReport],
    answer_times: Mapping[str, Sequence[datetime]],
    from_offset: int,
    away: datetime,
    at: datetime,
) -> bool:
    """Returns the same by reports alone: brokers that were away list no member until its next heartbeat, 30 s later
    (RocketMQ 5.4.0, ClientConfig.heartbeatBrokerInterval). `answer_times`: when each member reported anything. The
    member reported the queue before and after, whenever it reported, and never to be further back."""
    for client_id in {one.client_id for one in held_reports}:
        own = [one for one in held_reports if one.client_id == client_id]
        before, later = [one for one in own if one.at <= away], [one for one in own if away < one.at <= at]
        later += [one for one in own if one.at > at][:1]
        if not before or not later or later[-1].at <= at:
            continue
        times = {one.at for one in own}
        is_always = all(one in times for one in answer_times.get(client_id, ()) if before[-1].at < one < later[-1].at)
        is_same = len({one.started_at for one in (before[-1], *later)}) == 1
        if is_always and is_same and min(one.offset for one in later) >= max(from_offset, before[-1].offset):
            return True
    return False


def gave_up(
    held_reports: Sequence[HeldReport],
    answer_times: Mapping[str, Sequence[datetime]],
    since: datetime,
    away: datetime,
    at: datetime,
) -> str | None:
    """Who held the queue when its broker was last read, at `since`, or shortly before, reported without it before
    `at`, and it or another had the queue again later: taken anew, from the broker that was back. Name servers may
    have told members before that the broker goes."""
    for client_id in dict.fromkeys(one.client_id for one in held_reports if one.at <= away):
        own = {one.at for one in held_reports if one.client_id == client_id}
        first = min(own)
        without = next(
            (one for one in answer_times.get(client_id, ()) if max(since, first) <= one and one not in own), None
        )
        if without is None or without >= at:
            continue
        if min((one.at for one in held_reports if one.at > without), default=away) > away:
            return client_id
    return None


def _is_one_stretch(held_reports: Sequence[HeldReport], from_offset: int, since: datetime) -> bool:
    is_lower = any(one.offset < from_offset for one in held_reports if one.at > since)
    return not is_lower and len({one.started_at for one in held_reports}) <= 1


def is_resumed(
    reports: Sequence[Assignment], held_reports: Sequence[HeldReport], from_offset: int, held_at: datetime
) -> bool:
    """A member took the queue after `held_at`. To be asked where nobody kept it."""
    before = {(one.client_id, one.started_at) for one in held_reports if one.at <= held_at}
    later = (one for one in held_reports if one.at > held_at)
    is_reported = any(one.offset < from_offset or (one.client_id, one.started_at) not in before for one in later)
    return is_reported or any(row.seen_since > held_at for row in reports)


def is_of_holder(row: Assignment, report: HeldReport, since: datetime) -> bool:
    """The report is of one that held the queue before already."""
    return (
        row.client_id == report.client_id
        and row.seen_since <= since
        and (row.gone_by is None or row.gone_by > report.at)
    )


def begins_again(report: HeldReport, held_reports: Sequence[HeldReport]) -> bool:
    """Its member had been further before: what a member has in memory never goes back while it keeps a queue."""
    return any(
        one.client_id == report.client_id and one.at < report.at and one.offset > report.offset for one in held_reports
    )
