"""How many findings each group, broker and cluster has: those that a rule seeks, by code or severity."""

from collections.abc import Sequence
from datetime import datetime

from consumers.alerts.measured import Column, MeasureSpec, Unit, evidence_parts
from consumers.findings.queries import OpenFinding, is_sought, sought_codes, unknown_codes
from consumers.models import Measure, SubjectKind
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.findings import FindingCode
from consumers.words.reasons import coded_reason, lazy_reason

from .clusters import BrokerScan, ClusterScan
from .scan import GroupScan

NAMED = 3
NOT_CHECKED = lazy_reason(AlertEvidence.NOT_CHECKED)

Sought = tuple[str, ...]
Findings = Sequence[OpenFinding]


def of_groups(scan: GroupScan, sought: Sought) -> Column:
    found = scan.explainer.findings
    reasons = [
        scan.unread_reason(place) or (None if row.id in found.checked else str(NOT_CHECKED))
        for place, row in enumerate(scan.rows)
    ]
    return _column([found.by_group.get(row.id, ()) for row in scan.rows], sought, reasons)


def of_brokers(scan: BrokerScan, sought: Sought) -> Column:
    found = scan.explainer.findings
    rows = [found.by_broker.get((cluster.id, broker.name), ()) for cluster, broker in scan.rows]
    overlay = scan.explainer.overlay
    unread = [broker.unread_reason(overlay.now, overlay.limits) for _, broker in scan.rows]
    checked = [None if cluster.id in found.checked_clusters else str(NOT_CHECKED) for cluster, _ in scan.rows]
    return _column(rows, sought, [why or late for why, late in zip(unread, checked, strict=True)])


def of_clusters(scan: ClusterScan, sought: Sought) -> Column:
    """Offset files."""
    found = scan.explainer.findings
    rows = [found.by_cluster.get(cluster.id, ()) for cluster in scan.rows]
    checked = [None if cluster.id in found.checked_clusters else str(NOT_CHECKED) for cluster in scan.rows]
    return _column(rows, sought, checked)


def _column(rows: Sequence[Findings], sought: Sought, not_checked: Sequence[str | None]) -> Column:
    codes = sought_codes(sought)
    matched = [[one for one in findings if is_sought(one, sought)] for findings in rows]
    doubts = [_doubt(findings, codes) for findings in rows]

    def value(place: int) -> float | None:
        number = len(matched[place])
        return None if not number and (not_checked[place] or doubts[place]) else float(number)

    def since(place: int) -> datetime | None:
        return min((one.since for one in matched[place]), default=None)

    return Column(
        values=[value(place) for place in range(len(rows))],
        reason=lambda place: not_checked[place] or doubts[place] or "",
        evidence=lambda place: _evidence(matched[place]),
        since=since,
        # What was not checked may be wrong, too.
        is_bound=lambda place: bool(not_checked[place] or doubts[place]),
    )


def _doubt(findings: Findings, codes: frozenset[FindingCode]) -> str:
    """Why some of the codes could not be checked."""
    of_doubt = (one for one in findings if unknown_codes([one]) & codes)
    return next(map(_finding_words, of_doubt), "")


def _evidence(findings: Findings) -> str:
    if not findings:
        return coded_reason(AlertEvidence.NO_FINDINGS)
    named = [_finding_words(one) for one in findings[:NAMED]]
    more = len(findings) - NAMED
    if more > 0:
        named.append(coded_reason(AlertEvidence.MORE_FINDINGS, other_findings=more))
    return evidence_parts(named)


def _finding_words(one: OpenFinding) -> str:
    values = {"finding": one.code, "params": one.params, "group": one.group_name, "broker": one.broker}
    return coded_reason(AlertEvidence.FINDING, **values)


MEASURES = (
    MeasureSpec(
        code=Measure.FINDINGS,
        unit=Unit.COUNT,
        reads={SubjectKind.GROUP: of_groups, SubjectKind.BROKER: of_brokers, SubjectKind.CLUSTER: of_clusters},
        seeks_findings=True,
    ),
)
