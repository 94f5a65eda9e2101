"""Writes what checks found: new findings, changed ones, and those that are resolved. Idempotent."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from consumers.models import Cluster, ConsumerGroup, StoredFinding
from consumers.models.asked_once import one_answer
from consumers.queries.findings import DetectedFinding
from consumers.vocabulary.findings import FindingCheck, FindingCode
from consumers.words.findings import SPECS

from .queries import Found, GroupChecks, Subject, check_clusters, covered

AT_ONCE = 500
CHANGED = ("severity", "params", "since", "last_seen_at")
OF_GROUPS = frozenset(
    code for code, spec in SPECS.items() if spec.check in (FindingCheck.OWNERSHIP, FindingCheck.RETRIES)
)


def record_groups(groups: Sequence[ConsumerGroup], checks: dict[int, GroupChecks], now: datetime) -> None:
    """Of groups without checks, which are inactive, everything is resolved."""
    found = {
        Subject(group.cluster_id, group.pk): checks[group.pk].findings if group.pk in checks else [] for group in groups
    }
    _record(found, StoredFinding.objects.filter(group__in=groups, code__in=OF_GROUPS), now)


def record_clusters(now: datetime) -> None:
    """Findings of brokers, offsets and offset files of all clusters. Some twenty queries."""
    with one_answer():
        found = check_clusters(now)
    _record(found, StoredFinding.objects.exclude(code__in=OF_GROUPS), now)
    Cluster.objects.filter(pk__in={subject.cluster_id for subject in found}).update(checked_at=now)


def identity(subject: Subject, found: DetectedFinding) -> str:
    parts = [found.code.value, subject.cluster_id, subject.group_id, found.broker, found.key]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _record(found: Found, scope: "QuerySet[StoredFinding]", now: datetime) -> None:
    with transaction.atomic():
        # A cluster or group may have been deleted meanwhile.
        there = _present(found)
        current = {
            identity(subject, one): (subject, one)
            for subject, each in found.items()
            if subject in there
            for one in each
        }
        stored = {row.identity: row for row in scope.filter(resolved_at=None).select_for_update()}
        made = [_row(name, *current[name], now) for name in current.keys() - stored.keys()]
        StoredFinding.objects.bulk_create(made, batch_size=AT_ONCE)
        changed = [row for name, row in stored.items() if name in current and _changes(row, current[name][1], now)]
        StoredFinding.objects.bulk_update(changed, CHANGED, batch_size=AT_ONCE)
        same = {stored[name].pk for name in current.keys() & stored.keys()} - {row.pk for row in changed}
        _update(same, last_seen_at=now)
        _update(_over(found, [row for name, row in stored.items() if name not in current]), resolved_at=now)


def _present(found: Found) -> set[Subject]:
    clusters = set(Cluster.objects.values_list("pk", flat=True))
    wanted = [subject.group_id for subject in found if subject.group_id is not None]
    groups: set[int] = set()
    for part in _parts(wanted):
        groups |= set(ConsumerGroup.objects.filter(pk__in=part).values_list("pk", flat=True))
    return {one for one in found if one.cluster_id in clusters and (one.group_id is None or one.group_id in groups)}


def _row(name: str, subject: Subject, found: DetectedFinding, now: datetime) -> StoredFinding:
    return StoredFinding(
        identity=name,
        code=found.code.value,
        severity=found.severity.value,
        cluster_id=subject.cluster_id,
        group_id=subject.group_id,
        group_name=found.group,
        broker=found.broker,
        params=found.all_params,
        since=found.since or now,
        last_seen_at=now,
    )


def _changes(row: StoredFinding, found: DetectedFinding, now: datetime) -> bool:
    before = row.severity, row.params, row.since
    row.severity, row.params, row.since = found.severity.value, found.all_params, found.since or row.since
    row.last_seen_at = now
    return before != (row.severity, row.params, row.since)


def _over(found: Found, absent: Iterable[StoredFinding]) -> list[int]:
    """Ids of those that a check no longer finds. What could not be checked is not over."""
    unknown = {
        subject: covered((one.code.value, one.params) for one in each) for subject, each in found.items() if each
    }
    brokers = {
        (subject.cluster_id, one.broker, code)
        for subject, each in found.items()
        for one in each
        if subject.group_id is None
        for code in covered([(one.code.value, one.params)])
    }
    return [row.pk for row in absent if not _is_unknown(row, unknown, brokers)]


def _is_unknown(
    row: StoredFinding, unknown: dict[Subject, set[FindingCode]], brokers: set[tuple[int, str, FindingCode]]
) -> bool:
    code = FindingCode(row.code)
    if row.group_id is not None and code in OF_GROUPS:
        return code in unknown.get(Subject(row.cluster_id, row.group_id), ())
    names = row.params.get("brokers") or [row.broker]
    return any((row.cluster_id, name, code) in brokers for name in names)


def _update(keys: Iterable[int], **fields: Any) -> None:
    for part in _parts(keys):
        StoredFinding.objects.filter(Q(pk__in=part)).update(**fields)


def _parts(keys: Iterable[int]) -> Iterator[list[int]]:
    ordered = sorted(keys)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]
