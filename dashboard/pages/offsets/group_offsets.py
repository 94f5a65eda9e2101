"""The Offsets tab of a group: its stores side by side, what a crash would repeat, where a member would start."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.groups.detail import group_detail
from consumers.models import TopicKind
from consumers.offsets.rows import (
    BROKER_FILE,
    BROKER_MEMORY,
    CLIENT_MEMORY,
    CONSUMER_FILE,
    GroupOffsets,
    OffsetRow,
    StoreRow,
)
from consumers.offsets.stores import group_offsets
from consumers.queries.groups import find_group
from consumers.vocabulary.unknown import UnknownReason
from consumers.words.unknown import reason_words
from dashboard.pages.common.access import page, part
from dashboard.pages.common.frame import Choice, Frame, context, frame_of
from dashboard.pages.common.list_pages import paged
from dashboard.pages.groups.group_tabs import tabs
from dashboard.pages.site.problems import UnknownFilter
from dashboard.svg.offset_bars import stores_bar
from dashboard.wording.numbers import again, difference

# The lines of the Offsets tab: a queue's stores with their distances, and what a crash would repeat, in words.

ANOMALY = "anomaly"


@dataclass(frozen=True)
class StoreCell:
    """One store beside the broker's memory: how far it is from it."""

    store: StoreRow
    difference: str


@dataclass(frozen=True)
class OffsetLine:
    """`dies` and `both_die`: messages again, None where nothing of it is known."""

    row: OffsetRow
    memory: StoreRow
    files: list[StoreCell]
    clients: list[StoreCell]
    dies: str | None
    both_die: str | None
    bar: SafeString
    findings: list[str]


@dataclass(frozen=True)
class ClientLine:
    """A broadcasting client and one queue: what it holds in memory, and what its file says."""

    client_id: str
    row: OffsetRow
    memory: StoreRow | None
    file: StoreRow | None

    @property
    def _stores(self) -> list[StoreRow]:
        return [store for store in (self.memory, self.file) if store is not None]

    @property
    def lag_messages(self) -> int | None:
        """From the client's memory; where that is not known from its file, which is one write older."""
        return next((store.lag_messages for store in self._stores if store.lag_messages is not None), None)

    @property
    def why_no_lag(self) -> str:
        if any(store.offset is not None for store in self._stores):
            return self.row.unknown.get("broker_offset") or next(
                iter(self.findings), reason_words(UnknownReason.CONSUMER_AHEAD)
            )
        return next((store.finding for store in self._stores if store.finding), "")

    @property
    def findings(self) -> list[str]:
        return [store.finding for store in self._stores if store.finding and store.offset is not None]


@dataclass(frozen=True)
class Total:
    """What a crash of every consumer would repeat on the queues of which it is known; of `unknown` it is not."""

    words: str | None
    queues: int
    unknown: int
    reason: str


def shown(rows: Iterable[OffsetRow]) -> list[OffsetRow]:
    """Without the group's own dead letters: nobody goes on from anywhere in them."""
    return [row for row in rows if row.kind != TopicKind.DLQ]


def offset_line(row: OffsetRow) -> OffsetLine:
    [memory] = row.of_kind(BROKER_MEMORY)
    exposure, files = row.exposure, row.of_kind(BROKER_FILE) + row.of_kind(CONSUMER_FILE)
    clients = row.of_kind(CLIENT_MEMORY)
    known = [store.offset for store in clients if store.offset is not None]
    client = min(known) if known else None
    # The end of what is held: the upper bound counts up to it.
    end = memory.offset + exposure.high if memory.offset is not None and exposure.high is not None else None
    file = next((store.offset for store in files if store.kind == BROKER_FILE), None)
    return OffsetLine(
        row=row,
        memory=memory,
        files=[StoreCell(store, difference(store.offset, memory.offset)) for store in files],
        clients=[StoreCell(store, difference(store.offset, memory.offset)) for store in clients],
        dies=again(exposure.low, exposure.high),
        both_die=again(exposure.both_die_low, exposure.both_die_high),
        bar=stores_bar(file, memory.offset, client, end),
        findings=_findings(row),
    )


def _findings(row: OffsetRow) -> list[str]:
    """What is wrong with offsets that are known; why one is not known stands in its own place."""
    said = [_said(store) for store in row.stores if store.finding and store.offset is not None]
    anomalies = [reason for reason in row.exposure.unknown.values() if reason.startswith(ANOMALY)]
    return list(dict.fromkeys([*said, *anomalies, *row.exposure.notes]))


def _said(store: StoreRow) -> str:
    return f"{store.client_id}: {store.finding}" if store.client_id else store.finding or ""


def client_lines(rows: Sequence[OffsetRow]) -> list[ClientLine]:
    """Every client with every queue that its memory or its file speaks of, in order of client, topic, broker and id."""
    lines = []
    for row in rows:
        memories = {store.client_id: store for store in row.of_kind(CLIENT_MEMORY)}
        files = {store.client_id: store for store in row.of_kind(CONSUMER_FILE)}
        named = {client_id for client_id in (*memories, *files) if client_id is not None}
        lines += [ClientLine(name, row, memories.get(name), files.get(name)) for name in sorted(named)]
    return sorted(lines, key=lambda line: (line.client_id, line.row.topic, line.row.broker or "", line.row.queue_id))


def total(rows: Sequence[OffsetRow]) -> Total:
    # Where the upper bound is not known the lower one is not either; where it alone is known, the sum below stays true.
    known = [row.exposure for row in rows if row.exposure.high is not None]
    least = sum(exposure.low for exposure in known if exposure.low is not None)
    most = sum(exposure.high for exposure in known if exposure.high is not None)
    reasons = [row.unknown["exposure.high"] for row in rows if row.exposure.high is None]
    common = max(reasons, key=reasons.count, default="")
    return Total(again(least, most) if known else None, len(rows), len(reasons), common)


ROWS = 100


@page
def offsets(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return render(request, "offsets/group_offsets.html", offsets_context(request, cluster, group))


@part
def offsets_part(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    shown_here = {**offsets_context(request, cluster, group), "is_refresh": True}
    return render(request, "offsets/group_offsets_part.html", shown_here)


def offsets_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    detail, group = group_detail(cluster, name, now=frame.now), find_group(cluster, name)
    if detail is None or group is None:
        raise Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": name, "cluster": cluster})
    found = group_offsets(group, now=frame.now)
    rows = shown(found.rows)
    topic, topics = frame.request.GET.get("topic", ""), sorted({row.topic for row in rows})
    if topic and topic not in topics:
        raise UnknownFilter("topic", topic, topics)
    chosen = [row for row in rows if topic in ("", row.topic)]
    return context(
        frame,
        group=detail,
        offsets=found,
        tabs=tabs(frame, cluster, name),
        total=total(chosen),
        shows_files=found.names_files or any(store.at for row in rows for store in row.of_kind(BROKER_FILE)),
        topic_choices=[Choice(_("all topics"), frame.here(topic=None), not topic)]
        + [Choice(choice, frame.here(topic=choice), choice == topic) for choice in topics],
        **_lines(frame, found, chosen),
    )


def _lines(frame: Frame, found: GroupOffsets, rows: list[OffsetRow]) -> dict[str, Any]:
    lines: list[Any] = list(client_lines(rows) if found.is_broadcasting else rows)
    part_of, paging = paged(frame, lines, ROWS)
    return {
        "lines": part_of if found.is_broadcasting else [offset_line(row) for row in part_of],
        "line_count": len(lines),
        **paging,
    }
