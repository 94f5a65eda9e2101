"""What a block of lines tells, written with how far its file is read: both or nothing."""

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import transaction

from consumers.logs.parse.parser import APART_MS, LogRun, ParsedBlock, RunMerger
from consumers.models import LogEvent, LogFile

from .globs import zone_named

# How logs are followed: bounds and the zone of this machine, as the site sets them.

MIB = 1024 * 1024
LOCALTIME = "/etc/localtime"


@dataclass(frozen=True)
class FollowRules:
    """`run_bytes`: read in one run of a cluster. `backfill_bytes`: read at most of a file that is found with lines."""

    run_bytes: int
    backfill_bytes: int
    most_files: int
    kept: timedelta
    machine_zone: tzinfo

    @classmethod
    def of_site(cls) -> "FollowRules":
        return cls(
            run_bytes=int(settings.LOG_RUN_MIB * MIB),
            backfill_bytes=int(settings.LOG_BACKFILL_MIB * MIB),
            most_files=settings.LOG_FILES,
            kept=timedelta(days=settings.LOG_EVENT_DAYS),
            machine_zone=zone_named(settings.LOG_ZONE) if settings.LOG_ZONE else machine_zone(),
        )


@lru_cache(maxsize=1)
def machine_zone(localtime: str = LOCALTIME) -> tzinfo:
    """Of /etc/localtime. The variable TZ is no help: Django sets it to the zone of the site. Without the file programs
    on this machine use UTC."""
    name = os.path.realpath(localtime).partition("/zoneinfo/")[2]
    try:
        if name:
            return ZoneInfo(name)
        with open(localtime, "rb") as file:
            return ZoneInfo.from_file(file, key=localtime)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC


def zone_name(zone: tzinfo) -> str:
    return str(zone).removeprefix("UTC") or "UTC"


BATCH = 1000
CONTINUED = ["at", "began_at", "lines", "params", "position"]


def time_of(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)


def milliseconds_of(time: datetime) -> int:
    return int((time - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


class LogRecorder:
    """Of one file. Events older than `oldest` are counted and not stored."""

    def __init__(self, row: LogFile, oldest: datetime) -> None:
        self._row = row
        self._oldest = milliseconds_of(oldest)
        self._merger: RunMerger | None = None

    def record(self, parsed: ParsedBlock, start: int, end: int) -> None:
        row, found = self._row, parsed.found
        for line in found:
            line.position += start
        recent = [line for line in found if line.at >= self._oldest]
        if recent and self._merger is None:
            self._merger = RunMerger(self._going_on(min(line.began_at for line in recent)))
        runs = self._merger.take(recent) if self._merger else []
        row.offset = end
        row.lines += parsed.lines
        row.event_lines += sum(line.lines for line in found)
        row.unknown_lines += parsed.unknown
        row.long_lines += parsed.long
        if found:
            newest = time_of(max(line.at for line in found))
            row.last_event_at = max(newest, row.last_event_at) if row.last_event_at else newest
        with transaction.atomic():
            row.save()
            self._write(runs)

    def _going_on(self, first: int) -> list[LogRun]:
        since = time_of(first - APART_MS)
        return [_run_of(event) for event in LogEvent.objects.filter(file=self._row, at__gte=since).order_by("at", "pk")]

    def _write(self, runs: list[LogRun]) -> None:
        new = [(run, self._event(run)) for run in runs if run.row is None]
        for event in LogEvent.objects.bulk_create([event for _, event in new], batch_size=BATCH):
            assert event.pk is not None
        for run, event in new:
            run.row = event.pk
        created = {id(run) for run, _ in new}
        continued = [self._event(run) for run in runs if id(run) not in created]
        LogEvent.objects.bulk_update(continued, CONTINUED, batch_size=BATCH // 2)

    def _event(self, run: LogRun) -> LogEvent:
        code, group, client, topic, broker, queue = run.key
        return LogEvent(
            pk=run.row,
            cluster_id=self._row.cluster_id,
            file=self._row,
            code=code,
            began_at=time_of(run.began_at),
            at=time_of(run.at),
            group=group,
            client_id=client,
            topic=topic,
            broker=broker,
            queue_id=queue,
            lines=run.lines,
            position=run.position,
            params=run.all_params,
        )


def _run_of(event: LogEvent) -> LogRun:
    params = dict(event.params)
    return LogRun(
        key=(event.code, event.group, event.client_id, event.topic, event.broker, event.queue_id),
        began_at=milliseconds_of(event.began_at),
        at=milliseconds_of(event.at),
        position=event.position,
        low=params.pop("low_offset", None),
        high=params.pop("high_offset", None),
        params=params,
        lines=event.lines,
        row=event.pk,
    )
