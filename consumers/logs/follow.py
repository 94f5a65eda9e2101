"""One run over the logs of a cluster: each file is found by its identity, checked, and read from where it was left.
What a block of lines tells is written with how far its file is read: both or nothing.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from consumers.logs.globs import (
    HEAD_BYTES,
    PACKED,
    FoundLogs,
    LogGlob,
    LogPath,
    LogUnread,
    OpenLog,
    WrongLogGlob,
    blocks,
    find_logs,
    opened,
    parse_log_globs,
    zone_named,
)
from consumers.logs.parse.headers import Zones, last_line
from consumers.logs.parse.parser import APART_MS, LogParser, LogRun, ParsedBlock, RunMerger
from consumers.models import Cluster, LogEvent, LogFile
from consumers.vocabulary.logs import LogProblem, LogRole
from consumers.vocabulary.times import EPOCH

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
    return EPOCH + timedelta(milliseconds=milliseconds)


def milliseconds_of(time: datetime) -> int:
    return int((time - EPOCH) / timedelta(milliseconds=1))


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


# Zones differ by whole quarters of an hour: a last line that is off by some of them from the last write is no accident.
QUARTER = timedelta(minutes=15)
LEAST_DIFFERENCE, MOST_DIFFERENCE = timedelta(minutes=30), timedelta(hours=27)
EARLIEST, LATEST = timedelta(seconds=-2), timedelta(seconds=5)

# Of a folder, when a file is looked for that a rotation has named anew.
MOST_SIBLINGS = 2000
FORGOTTEN_AT_ONCE = 10_000


@dataclass
class Budget:
    """Bytes that a run may still read."""

    left: int


def follow_cluster(cluster: Cluster, now: datetime, rules: FollowRules) -> None:
    budget = Budget(rules.run_bytes)
    for role, text in ((LogRole.CLIENT, cluster.client_logs), (LogRole.BROKER, cluster.broker_logs)):
        RoleRun(cluster, role, now, rules, budget).run(text)


def forget_old(now: datetime, rules: FollowRules) -> None:
    old = LogEvent.objects.filter(at__lt=now - rules.kept).order_by("at").values("pk")[:FORGOTTEN_AT_ONCE]
    LogEvent.objects.filter(pk__in=[row["pk"] for row in old]).delete()
    for row in LogFile.objects.filter(gone_at__lt=now - rules.kept):
        if not LogEvent.objects.filter(file=row).exists():
            row.delete()


class RoleRun:
    """The logs of a cluster's clients, or of its brokers."""

    def __init__(self, cluster: Cluster, role: LogRole, now: datetime, rules: FollowRules, budget: Budget) -> None:
        self._cluster = cluster
        self._role = role
        self._now = now
        self._rules = rules
        self._budget = budget
        self._problems: dict[str, dict[str, Any]] = {}

    def run(self, text: str) -> None:
        known = {row.identity: row for row in self._rows().exclude(identity="")}
        try:
            globs = parse_log_globs(text)
        except WrongLogGlob as error:
            self._problems[text[:1000]] = _problem(LogProblem.GLOB, detail=str(error))
            self._note_problems()
            return
        found = find_logs(globs, self._rules.most_files)
        met = self._follow_found(found, known)
        # What cannot be opened may still be there.
        failing = {path for path, problem in self._problems.items() if problem["code"] != LogProblem.NO_FILE}
        for identity, row in known.items():
            if identity not in met and row.path not in failing:
                self._follow_renamed(row, _glob_of(row.path, globs))
        self._note_globs(found)
        self._note_problems()

    def _rows(self) -> QuerySet[LogFile]:
        return LogFile.objects.filter(cluster=self._cluster, role=self._role, gone_at=None)

    def _follow_found(self, found: FoundLogs, known: dict[str, LogFile]) -> set[str]:
        """The identities that were met. Whoever waited longest is first to be read."""
        order = {row.path: row.read_at for row in known.values() if row.read_at}
        met: set[str] = set()
        for one in sorted(
            found.paths, key=lambda path: (str(path.path) in order, order.get(str(path.path), self._now))
        ):
            try:
                with opened(one.path, one.glob.folder) as log:
                    if log.identity in met:
                        continue  # another name of the same file
                    met.add(log.identity)
                    self._follow(self._row_of(known.get(log.identity), log, one), log, one)
            except LogUnread as unread:
                self._problems[str(one.path)] = unread.problem
        return met

    def _row_of(self, row: LogFile | None, log: OpenLog, one: LogPath) -> LogFile:
        if row is not None and _is_same(row, log):
            row.path = str(one.path)
            return row
        if row is not None and row.path == str(one.path):
            row.offset, row.head, row.head_bytes = 0, "", 0
            row.truncations += 1
            return row
        if row is not None:
            self._close(row)
        skipped = max(0, log.size - self._rules.backfill_bytes)
        return LogFile(
            cluster=self._cluster,
            role=self._role,
            path=str(one.path),
            identity=log.identity,
            offset=skipped,
            skipped_bytes=skipped,
            first_seen_at=self._now,
        )

    def _follow(self, row: LogFile, log: OpenLog, one: LogPath) -> None:
        zones = Zones(zone_named(one.glob.zone) if one.glob.zone else None, self._rules.machine_zone)
        row.size, row.problem = log.size, None
        if log.size > row.offset and row.head_bytes < HEAD_BYTES:
            row.head_bytes = min(log.size, HEAD_BYTES)
            row.head = log.head(row.head_bytes)
        if log.size > row.offset:
            row.problem = self._header_problem(row, log, zones)
        row.save()
        if row.problem is None and log.size >= row.offset:
            self._read(row, log, zones)

    def _header_problem(self, row: LogFile, log: OpenLog, zones: Zones) -> dict[str, Any] | None:
        """Nothing is read of a file whose times are not understood, or are of another time zone: its events would have
        wrong times."""
        tail = log.tail()
        last = last_line(tail, zones)
        if last is None:
            # A trace or a body may be longer than what is looked at here.
            return _problem(LogProblem.FORM_UNKNOWN) if row.form is None and b"\n" in tail else None
        zone, basis = zones.of(last.form)
        name = zone_name(zone)
        known = row.zone == name and row.form == last.form and row.zone_agrees_at is not None
        row.form, row.zone, row.zone_basis = last.form, name, basis
        written = timedelta(seconds=log.written_at) - timedelta(milliseconds=last.at)
        if EARLIEST <= written <= LATEST:
            row.zone_agrees_at = self._now
        elif not known:
            row.zone_agrees_at = None
            if shift := zone_shift(written):
                return _problem(LogProblem.ZONE_DIFFERS, zone=name, minutes=int(shift / timedelta(minutes=1)))
        return None

    def _read(self, row: LogFile, log: OpenLog, zones: Zones) -> None:
        parser = LogParser(self._role, zones)
        recorder = LogRecorder(row, self._now - self._rules.kept)
        for block in blocks(log, row.offset, self._budget.left):
            parsed = ParsedBlock(long=int(block.begins)) if block.unended else parser.parse(block.body)
            recorder.record(parsed, block.start, block.end)
            self._budget.left -= len(block.body)
        if self._budget.left > 0:
            row.read_at = self._now
            row.save(update_fields=["read_at"])

    def _follow_renamed(self, row: LogFile, glob: LogGlob | None) -> None:
        """A rotation gave it a name that no glob matches: what it still has is read as long as it is there."""
        if glob is None:
            row.gone_at = self._now
            row.save(update_fields=["gone_at"])
            return
        path = _sibling(row)
        if path is None:
            self._close(row)
            return
        try:
            with opened(path, glob.folder) as log:
                if log.identity != row.identity or not _is_same(row, log):
                    self._close(row)
                    return
                row.path = str(path)
                self._follow(row, log, LogPath(path, glob))
        except LogUnread as unread:
            row.problem = unread.problem
            row.save(update_fields=["problem"])

    def _close(self, row: LogFile) -> None:
        """What was written to it after it was read last is not known."""
        row.gone_at = self._now
        at = row.read_at.isoformat() if row.read_at else None
        row.problem = _problem(LogProblem.REPLACED_UNREAD, read_at=at)
        row.save(update_fields=["gone_at", "problem"])

    def _note_globs(self, found: FoundLogs) -> None:
        for one in found.problems:
            self._problems[one.glob.pattern] = _problem(one.code, **one.params)

    def _note_problems(self) -> None:
        noted = {row.path: row for row in self._rows().filter(identity="")}
        for path, problem in self._problems.items():
            row = noted.pop(path, None) or LogFile(
                cluster=self._cluster, role=self._role, path=path, first_seen_at=self._now
            )
            if row.problem != problem:
                row.problem = problem
                row.save()
        LogFile.objects.filter(pk__in=[row.pk for row in noted.values()]).delete()


def zone_shift(written: timedelta) -> timedelta | None:
    """By how much the time of a last line is off from the last write, if that is what two zones differ by."""
    shift = round(written / QUARTER) * QUARTER
    if not LEAST_DIFFERENCE <= abs(shift) <= MOST_DIFFERENCE or not EARLIEST <= written - shift <= LATEST:
        return None
    return shift


def _is_same(row: LogFile, log: OpenLog) -> bool:
    return log.size >= row.offset and log.size >= row.head_bytes and log.head(row.head_bytes) == row.head


def _glob_of(path: str, globs: Iterable[LogGlob]) -> LogGlob | None:
    """The glob that a file had when a rotation named it anew: of the same folders."""
    return next((one for one in globs if Path(path).is_relative_to(one.folder)), None)


def _sibling(row: LogFile) -> Path | None:
    inode = int(row.identity.partition(":")[2])
    try:
        with os.scandir(Path(row.path).parent) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_SIBLINGS:
                    return None
                if entry.inode() == inode and not entry.name.endswith(PACKED):
                    return Path(entry.path)
    except OSError:
        return None
    return None


def _problem(code: LogProblem, **params: object) -> dict[str, Any]:
    return {"code": str(code), "params": params}
