"""Events of logs, of one group and a time; and the logs of a cluster with how far each is read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from consumers.models import ConsumerGroup, LogEvent, LogFile
from consumers.queries.declared import INSIDE, answer, public
from consumers.vocabulary.logs import LogCode, LogForm, LogRole, ZoneBasis
from consumers.words.logs import log_event_words, log_problem_words, zone_basis_words

from .coverage import is_unread, read_since

# Rows of logs and of their events. Field names are those of REST; each null has its reason beside it.


@answer("What a line of RocketMQ's logs tells, or several alike. A null is what the lines do not name.")
@dataclass(frozen=True, kw_only=True)
class LogEventRow:
    """`lines` of them, from `began_at` to `at`."""

    id: int
    code: str = field(metadata=public(of=LogCode))
    sentence: str
    began_at: datetime = field(metadata=public("Of the first of its lines"))
    at: datetime = field(metadata=public("Of the last of its lines"))
    lines: int = field(metadata=public("How many lines alike, with less than 2 min between two of them"))
    group: str | None
    client_id: str | None
    topic: str | None
    broker: str | None
    queue_id: int | None
    params: dict[str, Any] = field(metadata=public("What the last line says beside these: offsets, addresses …"))
    role: str = field(metadata=public("Whose log it is", of=LogRole))
    path: str
    position: int = field(metadata=public("The place of the last line in the file, in bytes"))


@dataclass(frozen=True, kw_only=True)
class LogEventPage:
    """`count` events in all."""

    rows: list[LogEventRow]
    count: int


@answer("A log that is followed, or a glob with a problem of its own.")
@dataclass(frozen=True, kw_only=True)
class LogFileRow:
    """`followed`: it is a file that was read at least in part."""

    role: str = field(metadata=public(of=LogRole))
    path: str
    followed: bool = field(metadata=public("False for a glob, and for a file that was never opened"))
    form: str | None = field(metadata=public("The layout of its lines", of=LogForm))
    zone: str | None = field(metadata=public("The time zone that its times are read in"))
    zone_basis: str | None = field(metadata=public("Why in that zone", of=ZoneBasis))
    zone_agrees_at: datetime | None = field(
        metadata=public("When the time of its last line was last found to be that of its last write")
    )
    size_bytes: int | None
    read_bytes: int | None = field(metadata=public("How far it was read"))
    skipped_bytes: int = field(metadata=public("At its beginning, as it was too large when it was found"))
    lines: int
    event_lines: int = field(metadata=public("Of known kinds"))
    unknown_lines: int = field(metadata=public("Begin as lines of a known kind and go on otherwise"))
    long_lines: int = field(metadata=public("Cut, as they are longer than 64 KiB"))
    truncations: int = field(metadata=public("How often it was emptied and begun again"))
    read_at: datetime | None = field(metadata=public("When all that it had was last read"))
    last_event_at: datetime | None
    gone_at: datetime | None = field(metadata=public("When it was not found any more"))
    is_late: bool = field(metadata=public("It is not read as often as it should be: see that the general worker runs"))
    problem: str | None
    problem_code: str | None
    basis: str | None = field(metadata=INSIDE)
    unknown: dict[str, str] = field(default_factory=dict)


# Files that are gone are shown for so long.
GONE_SHOWN = timedelta(days=1)
NOT_READ = gettext_lazy("nothing of it was read yet")
NO_EVENT = gettext_lazy("no line of a known kind was read yet")
NOT_CHECKED = gettext_lazy("its last line was never read within 5 s of its last write")


def log_event_page(
    group: ConsumerGroup,
    since: datetime | None,
    until: datetime | None,
    codes: Sequence[LogCode] | None,
    *,
    page: int,
    page_size: int,
) -> LogEventPage:
    """What logs tell of a group in [since, until), the newest first: an event counts that was going on then. Two
    queries.

    Lines that do not name their group are not among them."""
    found = _events(group, since, until, codes).order_by("-at", "-pk")
    first = (page - 1) * page_size
    return LogEventPage(rows=[_event_row(event) for event in found[first : first + page_size]], count=found.count())


def log_files_by_cluster(now: datetime) -> dict[str, list[LogFileRow]]:
    """Those that are there, and those that went within a day. One query."""
    found = LogFile.objects.exclude(gone_at__lt=now - GONE_SHOWN).select_related("cluster")
    rows: dict[str, list[LogFileRow]] = {}
    for file in found.order_by("cluster", "gone_at", "role", "path", "pk"):
        rows.setdefault(file.cluster.name, []).append(_file_row(file, now))
    return rows


def _events(
    group: ConsumerGroup, since: datetime | None, until: datetime | None, codes: Sequence[LogCode] | None
) -> QuerySet[LogEvent]:
    found = LogEvent.objects.filter(cluster=group.cluster_id, group=group.name).select_related("file")
    if since is not None:
        found = found.filter(at__gte=since)
    if until is not None:
        found = found.filter(began_at__lt=until)
    return found if codes is None else found.filter(code__in=codes)


def _event_row(event: LogEvent) -> LogEventRow:
    return LogEventRow(
        id=event.pk,
        code=event.code,
        sentence=log_event_words(event.code),
        began_at=event.began_at,
        at=event.at,
        lines=event.lines,
        group=event.group,
        client_id=event.client_id,
        topic=event.topic,
        broker=event.broker,
        queue_id=event.queue_id,
        params=event.params,
        role=event.file.role,
        path=event.file.path,
        position=event.position,
    )


def _file_row(file: LogFile, now: datetime) -> LogFileRow:
    followed = bool(file.identity)
    problem = log_problem_words(file.problem)
    reasons = {
        **dict.fromkeys(
            ("form", "zone", "zone_basis", "size_bytes", "read_bytes", "read_at"), problem or str(NOT_READ)
        ),
        "zone_agrees_at": problem or str(NOT_CHECKED),
        "last_event_at": problem or str(NO_EVENT),
    }
    values: dict[str, Any] = {
        "form": file.form,
        "zone": file.zone,
        "zone_basis": file.zone_basis,
        "zone_agrees_at": file.zone_agrees_at,
        "size_bytes": file.size,
        "read_bytes": file.offset if followed else None,
        "read_at": file.read_at,
        "last_event_at": file.last_event_at,
    }
    return LogFileRow(
        role=file.role,
        path=file.path,
        followed=followed,
        **values,
        skipped_bytes=file.skipped_bytes,
        lines=file.lines,
        event_lines=file.event_lines,
        unknown_lines=file.unknown_lines,
        long_lines=file.long_lines,
        truncations=file.truncations,
        gone_at=file.gone_at,
        is_late=is_unread(file, read_since(now)),
        problem=problem,
        problem_code=file.problem["code"] if file.problem else None,
        basis=zone_basis_words(file.zone_basis) if file.zone_basis else None,
        unknown={name: reasons[name] for name, value in values.items() if value is None},
    )
