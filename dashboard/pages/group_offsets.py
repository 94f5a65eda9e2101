"""The Offsets tab of a group: its stores side by side, what a crash would repeat, where a member would start."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.selectors.groups.detail import group_detail
from consumers.selectors.offset_stores.rows import BROKER_FILE, GroupOffsets, OffsetRow
from consumers.selectors.offset_stores.stores import group_offsets
from consumers.selectors.queues import find_group

from .access import page, part
from .frame import Choice, Frame, context, frame_of
from .group_tabs import tabs
from .list_pages import paged
from .offset_lines import client_lines, offset_line, shown, total
from .problems import UnknownFilter

ROWS = 100


@page
def offsets(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return render(request, "pages/group_offsets.html", offsets_context(request, cluster, group))


@part
def offsets_part(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    shown_here = {**offsets_context(request, cluster, group), "is_refresh": True}
    return render(request, "fragments/group_offsets.html", shown_here)


def offsets_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    detail, group = group_detail(cluster, name, now=frame.now), find_group(cluster, name)
    if detail is None or group is None:
        raise Http404(_("No group “%(group)s” has been read on “%(cluster)s”.") % {"group": name, "cluster": cluster})
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
