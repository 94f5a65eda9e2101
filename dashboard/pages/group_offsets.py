"""The Offsets tab of a group: its offset stores, what a crash would redeliver, and where a member would start."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.groups.detail import group_detail, group_queues
from consumers.groups.queue_rows import QueueRow
from consumers.jobs.permissions import check, may
from consumers.models import ConsumerGroup, LossAcknowledgement, ResetKind, TopicKind
from consumers.offsets.clients import (
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
from consumers.queries.limits import broker_ages, limits
from consumers.resets.acts import acknowledge_loss, why_not_acknowledged
from consumers.resets.request import MAY_RESET
from consumers.resets.target_values import ResetRefused
from consumers.vocabulary.offset_files import EXPOSURE_ANOMALIES
from consumers.vocabulary.reasons import reason_code
from consumers.vocabulary.states import RuleCode, UnknownReason
from consumers.words.marks import labelled
from consumers.words.reasons import reason_words
from dashboard.figures.offset_bars import stores_bar
from dashboard.pages.common.frame import (
    Choice,
    Frame,
    context,
    form_page,
    frame_of,
    group_or_404,
    no_group,
    refreshing,
    tabs,
)
from dashboard.pages.common.list_pages import paged
from dashboard.pages.reset_plan import place_of
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import again, difference

# Offsets of a group that are gone from their brokers: where to reset it to, and who took note of the loss.

# An address takes only so many; beyond that the reset is of all queues of the brokers concerned.
NAMED_IN_ADDRESS = 40


@form_page
def lost_offsets(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = group_or_404(cluster, group)
    if request.method != "POST":
        return _shown(request, found)
    check(request.user, MAY_RESET, cluster)
    try:
        acknowledge_loss(found, request.user, timezone.now())
    except ResetRefused as refusal:
        return _shown(request, found, str(refusal), status=409)
    return HttpResponseRedirect(request.path)


def _shown(request: HttpRequest, group: ConsumerGroup, refusal: str = "", status: int = 200) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    rows = group_queues(group, now=frame.now)
    shown = {
        "group": group,
        "unread": _unread_reasons(group, rows, frame.now),
        "group_href": frame.group(group.cluster.name, group.name),
        "tabs": tabs(frame, group.cluster.name, group.name),
        "refusal": refusal,
        "against": why_not_acknowledged(group, request.user),
        "acknowledgements": LossAcknowledgement.objects.filter(group=group)[:20],
        **loss_context(frame, group.cluster.name, group.name, rows),
    }
    return render(request, "offsets/lost_offsets.html", context(frame, **shown), status=status)


def _unread_reasons(group: ConsumerGroup, rows: Sequence[QueueRow], now: datetime) -> list[str]:
    """Why offsets on brokers of its queues are unknown: they may be lost."""
    held, limit = {row.broker for row in rows}, limits()
    ages = broker_ages([group.cluster_id])[group.cluster_id].brokers
    return [reason for one in ages if one.name in held and (reason := one.unread_reason(now, limit))]


def loss_context(frame: Frame, cluster: str, group: str, rows: Sequence[QueueRow]) -> dict[str, Any]:
    """Of the queues whose offset is lost, with the address that plans to bring each, and all, back."""
    lost = [row for row in rows if row.rule_code == RuleCode.OFFSET_LOST]
    return {
        "lost": [(row, _plan(frame, cluster, group, [row])) for row in lost],
        "restore_href": _plan(frame, cluster, group, lost),
        "may_reset": may(frame.request.user, MAY_RESET, cluster),
        "acknowledge_href": frame.to("lost_offsets", cluster, group),
    }


def _plan(frame: Frame, cluster: str, group: str, rows: Sequence[QueueRow]) -> str | None:
    """To where they stood at the last reading that had all of them; null where none is known."""
    times = [row.lost_at for row in rows if row.lost_at is not None]
    if not times:
        return None
    what: dict[str, Any] = {"kind": ResetKind.MOMENT.value, "value": min(times).isoformat()}
    if len(rows) <= NAMED_IN_ADDRESS:
        what["queue"] = [place_of(row) for row in rows]
    else:
        what["broker"] = sorted({row.broker for row in rows})
    return frame.to_many("reset_plan", cluster, group, **what, reason=_("Committed offsets were lost."))


# The lines of the Offsets tab: a queue's stores with their distances, and what a crash would repeat, in words.


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
    """Returns what is wrong with known offsets. Why an offset is unknown stands in its own cell."""
    sentences = [_store_finding(store) for store in row.stores if store.finding and store.offset is not None]
    anomalies = [reason for reason in row.exposure.unknown.values() if reason_code(reason) in EXPOSURE_ANOMALIES]
    return list(dict.fromkeys([*sentences, *anomalies, *row.exposure.notes]))


def _store_finding(store: StoreRow) -> str:
    return labelled(store.client_id, store.finding) if store.client_id else store.finding or ""


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


def offsets_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    detail, group = group_detail(cluster, name, now=frame.now), find_group(cluster, name)
    if detail is None or group is None:
        raise no_group(cluster, name)
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


offsets, offsets_part = refreshing(
    "offsets/group_offsets.html", "offsets/group_offsets_part.html", offsets_context, mark="is_refresh"
)


def _lines(frame: Frame, found: GroupOffsets, rows: list[OffsetRow]) -> dict[str, Any]:
    lines: list[Any] = list(client_lines(rows) if found.is_broadcasting else rows)
    part_of, paging = paged(frame, lines, ROWS)
    return {
        "lines": part_of if found.is_broadcasting else [offset_line(row) for row in part_of],
        "line_count": len(lines),
        **paging,
    }
