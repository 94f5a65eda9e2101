"""Findings of all groups, brokers and offset files, the worst first; and those of one group."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from consumers.findings.queries import FindingFilters, finding_list
from consumers.queries.findings import FindingRow
from consumers.vocabulary.findings import FindingCheck, FindingCode, FindingSeverity
from consumers.words.findings import SEVERITIES, TITLES
from dashboard.pages.common.frame import Frame, context, frame_of, page, part
from dashboard.pages.common.list_pages import listed
from dashboard.pages.site.problems import UnknownFilter

ROWS, OF_GROUP = 50, 8
# The page that says more.
TABS = {
    FindingCheck.OWNERSHIP: "group_ownership",
    FindingCheck.RETRIES: "group_retries",
    FindingCheck.OFFSETS: "group_offsets",
    FindingCheck.OFFSET_FILES: "group_offsets",
}
PAGES = {FindingCheck.DELAY_LEVELS: "retries"}


@dataclass(frozen=True)
class FindingLine:
    """`name`: of the group, the broker or the cluster; `href` is empty where no page is about it."""

    row: FindingRow
    name: str
    href: str


@page
def findings(request: HttpRequest) -> HttpResponse:
    return render(request, "findings/findings.html", findings_context(request))


@part
def findings_part(request: HttpRequest) -> HttpResponse:
    return render(request, "findings/findings_part.html", {**findings_context(request), "is_part": True})


def findings_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    filters = _filters(frame)
    counts: dict[FindingSeverity, int] = {}
    unchecked = 0

    def rows_of(number: int) -> tuple[list[FindingRow], int]:
        nonlocal unchecked
        found = finding_list(filters, frame.now, page=number, page_size=ROWS)
        counts.update(found.counts)
        unchecked = found.unchecked
        return list(found.rows), found.count

    rows, paging = listed(frame, ROWS, rows_of)
    return context(
        frame,
        lines=[_line(frame, row) for row in rows],
        chips=severity_chips(frame, counts, filters.severity),
        code=TITLES[FindingCode(filters.code)] if filters.code else None,
        every_code=frame.here(code=None),
        group=filters.group,
        every_group=frame.here(group=None),
        unchecked=unchecked,
        every_unchecked=frame.here(code=None, severity=FindingSeverity.UNKNOWN.value),
        is_filtered=bool(filters.code or filters.severity or filters.group),
        many_clusters=frame.cluster is None and len(frame.clusters) > 1,
        **paging,
    )


def _filters(frame: Frame) -> FindingFilters:
    read = frame.request.GET.get
    code, severity = read("code") or None, read("severity") or None
    if code is not None and code not in list(FindingCode):
        raise UnknownFilter("code", code, FindingCode)
    if severity is not None and severity not in list(FindingSeverity):
        raise UnknownFilter("severity", severity, FindingSeverity)
    return FindingFilters(code=code, severity=severity, cluster=frame.cluster, group=read("group") or None)


def severity_chips(
    frame: Frame, counts: dict[FindingSeverity, int], chosen: str | None
) -> list[tuple[str, str, int, str, bool]]:
    """For each severity: code, word, how many, the address that shows only these (or all again), whether chosen."""
    return [
        (one.value, str(SEVERITIES[one]), n, frame.here(severity=None if chosen == one else one.value), chosen == one)
        for one, n in counts.items()
        if n or chosen == one
    ]


def group_findings(frame: Frame, cluster: str, group: str) -> dict[str, Any]:
    """Of one group, for its page: without what is only worth knowing."""
    filters = FindingFilters(cluster=cluster, group=group)
    found = finding_list(filters, frame.now, page=1, page_size=OF_GROUP)
    rows = [row for row in found.rows if row.severity != FindingSeverity.INFO]
    return {
        "own_findings": [_line(frame, row) for row in rows],
        "own_findings_more": found.count - len(rows),
        "every_own_finding": frame.to("findings", cluster=cluster, group=group),
    }


def finding_counts(frame: Frame) -> list[tuple[str, int, str]]:
    """For each severity that there is and that needs attention: code, number, and the list of them."""
    counts = finding_list(FindingFilters(cluster=frame.cluster), frame.now, page=1, page_size=0).counts
    loud = (FindingSeverity.CRITICAL, FindingSeverity.WARNING, FindingSeverity.UNKNOWN)
    return [(one.value, counts[one], frame.to("findings", severity=one.value)) for one in loud if counts[one]]


def _line(frame: Frame, row: FindingRow) -> FindingLine:
    check = FindingCheck(row.check)
    if row.group is not None:
        return FindingLine(row, row.group, frame.to(TABS.get(check, "group"), row.cluster, row.group))
    return FindingLine(row, row.broker or row.cluster, frame.to(PAGES.get(check, "clusters"), cluster=row.cluster))
