"""Current findings of one group or of all, from stored rows. The number of queries does not grow with groups."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Case, Count, Exists, IntegerField, Min, OuterRef, Q, QuerySet, Value, When

from consumers.models import Broker, Cluster, ConsumerGroup, GroupHealth, GroupKind, OffsetFile, StoredFinding
from consumers.ownership.findings import OwnershipCheck, ownership_check
from consumers.polling.flags import ghosts
from consumers.queries.findings import DetectedFinding, FindingRow, finding_row
from consumers.queries.limits import ClusterAge, broker_ages, limits
from consumers.queries.queues.lost_offsets import lost_snapshots
from consumers.retries.broker_levels import BrokerLevels, cluster_levels
from consumers.retries.checks.condition_rows import FINDINGS, Condition, ConditionName
from consumers.retries.checks.failing import conditions
from consumers.retries.checks.observed import facts_of
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from consumers.words.findings import COVERS, SPECS

# What is wrong now with single groups, and with brokers, offsets and offset files of all clusters.

# Only members answer these checks: without a member nobody can be asked.
OF_MEMBERS = frozenset({ConditionName.TIMEOUT, ConditionName.RETRIED})


class Subject(NamedTuple):
    """Where findings are: a group, or a cluster with its brokers and files."""

    cluster_id: int
    group_id: int | None = None


Found = Mapping[Subject, Sequence[DetectedFinding]]


@dataclass(frozen=True)
class GroupChecks:
    """The checks of one group."""

    group: ConsumerGroup
    ownership: OwnershipCheck
    conditions: Sequence[Condition]

    @property
    def doubtful(self) -> list[Condition]:
        """Retry health checks of which nobody knows whether they pass."""
        is_empty = self.group.online is False
        return [one for one in self.conditions if one.ok is None and not (is_empty and one.name in OF_MEMBERS)]

    @property
    def findings(self) -> list[DetectedFinding]:
        found = [*self.ownership.findings, *filter(None, (one.finding for one in self.conditions))]
        if self.ownership.unknown is not None:
            found.append(self.ownership.unknown)
        if self.doubtful:
            codes = [FINDINGS[one.name].value for one in self.doubtful]
            found.append(DetectedFinding(code=FindingCode.RETRY_CHECKS_UNKNOWN, params={"checks": codes}))
        return [replace(one, group=self.group.name) for one in found]


def check_groups(groups: Sequence[ConsumerGroup], now: datetime) -> dict[int, GroupChecks]:
    """By the group's id; the groups' clusters must be loaded. Some ten queries for each group.

    System groups and inactive groups are left out.
    """
    used = _in_use(groups, now)
    chosen = [group for group in groups if group.pk in used]
    return {
        group.pk: GroupChecks(group, ownership_check(group, now), conditions(observed))
        for group, observed in zip(chosen, facts_of(chosen, now), strict=True)
    }


def _in_use(groups: Sequence[ConsumerGroup], now: datetime) -> set[int]:
    of_users = [group.pk for group in groups if group.kind == GroupKind.USER]
    rows = ConsumerGroup.objects.filter(pk__in=of_users).exclude(ghosts(now, limits().kinds))
    return set(rows.values_list("pk", flat=True))


def covered(findings: Iterable[tuple[str, Mapping[str, object]]]) -> set[FindingCode]:
    """Codes that are unknown, by the codes and parameters of the findings of one subject."""
    found: set[FindingCode] = set()
    for code, params in findings:
        found |= COVERS.get(code, frozenset())
        if code == FindingCode.RETRY_CHECKS_UNKNOWN:
            found |= {FindingCode(one) for one in params["checks"]}  # type: ignore[attr-defined]
    return found


def check_clusters(now: datetime) -> dict[Subject, list[DetectedFinding]]:
    """Delay levels, offset files and lost offsets of all clusters. Ten queries, however many brokers and groups."""
    ages = broker_ages()
    found: dict[Subject, list[DetectedFinding]] = {
        Subject(pk): [] for pk in Cluster.objects.values_list("pk", flat=True)
    }
    for pk, brokers in cluster_levels(ages, now).items():
        found[Subject(pk)] += _of_levels(brokers)
    for pk, age in ages.items():
        found[Subject(pk)] += _unread(age, now)
    for file in OffsetFile.objects.all():
        found[Subject(file.cluster_id)] += _of_file(file)
    for subject, loss in _losses():
        found.setdefault(subject, []).append(loss)
    return found


def _of_levels(brokers: Iterable[BrokerLevels]) -> Iterator[DetectedFinding]:
    for broker in brokers:
        yield from broker.findings
        if broker.backlog is None:
            yield DetectedFinding(code=FindingCode.DELAY_LEVELS_UNKNOWN, broker=broker.broker)


def _unread(age: ClusterAge, now: datetime) -> Iterator[DetectedFinding]:
    for broker in age.brokers:
        if broker.unread_reason(now, limits()) is not None:
            yield DetectedFinding(code=FindingCode.LOST_OFFSETS_UNKNOWN, broker=broker.name)


def _of_file(file: OffsetFile) -> Iterator[DetectedFinding]:
    """One for each code: a file may have the same finding a hundred times."""
    if file.error is not None:
        yield DetectedFinding(
            code=FindingCode.OFFSET_FILE_UNREAD,
            key=file.path,
            broker=file.broker or "",
            group=file.group_name or "",
            params={"path": file.path, "file_problem": file.error},
        )
    number = Counter(finding["code"] for finding in file.findings)
    first = {finding["code"]: finding for finding in reversed(file.findings)}
    for code, finding in first.items():
        more = {"others": number[code] - 1, "notes": ["more"]} if number[code] > 1 else {}
        yield DetectedFinding(
            code=FindingCode.OFFSET_FILE,
            key=f"{file.path} {code}",
            broker=file.broker or "",
            group=file.group_name or "",
            params={"path": file.path, "file_finding": finding, **more},
        )


def _losses() -> Iterator[tuple[Subject, DetectedFinding]]:
    """Of user groups, inactive ones among them: nobody took note of their losses either."""
    rows = lost_snapshots().filter(group__kind=GroupKind.USER).order_by("group", "lost_at")
    columns = ("group__cluster_id", "group_id", "group__name", "queue__broker", "lost_at")
    lost: dict[Subject, list[tuple[str, str, datetime | None]]] = {}
    for cluster, group, *of_queue in rows.values_list(*columns):
        lost.setdefault(Subject(cluster, group), []).append(tuple(of_queue))
    for subject, queues in lost.items():
        yield (
            subject,
            DetectedFinding(
                code=FindingCode.LOST_OFFSETS,
                group=queues[0][0],
                params={"queues": len(queues), "brokers": sorted({broker for _, broker, _ in queues})},
                since=min((at for _, _, at in queues if at is not None), default=None),
            ),
        )


RANK = Case(
    *(When(severity=one.value, then=Value(rank)) for rank, one in enumerate(FindingSeverity)),
    default=Value(len(FindingSeverity)),
    output_field=IntegerField(),
)
_CODES = frozenset(code.value for code in FindingCode)
COLUMNS = ("code", "severity", "cluster_id", "group_id", "group_name", "broker", "params", "since")


@dataclass(frozen=True)
class FindingFilters:
    """Null: any."""

    code: str | None = None
    severity: str | None = None
    cluster: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class FindingPage:
    """`counts`: of all findings that the other filters leave, by severity. `unchecked`: how many findings that the
    filters leave out say that what they seek could not be checked: there may be more than `count`."""

    rows: Sequence[FindingRow]
    count: int
    counts: Mapping[FindingSeverity, int]
    unchecked: int


def finding_list(filters: FindingFilters, now: datetime, *, page: int, page_size: int) -> FindingPage:
    """The worst first, then the newest. Checks that are late are findings too: one per cluster. Eight queries."""
    late = late_checks(filters, now)
    counts = dict.fromkeys(FindingSeverity, 0)
    for severity, number in _open(filters).order_by().values_list("severity").annotate(Count("pk")):
        counts[FindingSeverity(severity)] += number
    counts[FindingSeverity.UNKNOWN] += len(late)
    if filters.severity not in (None, FindingSeverity.UNKNOWN):
        late = []
    found = _open(filters) if filters.severity is None else _open(filters).filter(severity=filters.severity)
    first = (page - 1) * page_size
    ordered = found.select_related("cluster").order_by(RANK, "-since", "pk")
    # Late checks come first: what follows is as of the last check.
    rows = late[first : first + page_size]
    rest = ordered[max(0, first - len(late)) : max(0, first + page_size - len(late))]
    count = sum(counts.values()) if filters.severity is None else counts[FindingSeverity(filters.severity)]
    return FindingPage([*rows, *map(_shown, rest)], count, counts, _unchecked(filters, counts, now))


def _unchecked(filters: FindingFilters, counts: Mapping[FindingSeverity, int], now: datetime) -> int:
    if filters.code is None:
        return 0 if filters.severity in (None, FindingSeverity.UNKNOWN) else counts[FindingSeverity.UNKNOWN]
    every = replace(filters, code=None, severity=None)
    code = FindingCode(filters.code)
    covering = [name for name, codes in COVERS.items() if code in codes]
    checks = _open(every).filter(code=FindingCode.RETRY_CHECKS_UNKNOWN).values_list("params", flat=True)
    late = 0 if code is FindingCode.NOT_CHECKED else len(late_checks(every, now))
    return late + _open(every).filter(code__in=covering).count() + sum(code in params["checks"] for params in checks)


def still_open() -> "QuerySet[StoredFinding]":
    """Without codes that only another version knows."""
    return StoredFinding.objects.filter(resolved_at=None, code__in=_CODES)


def open_count(filters: FindingFilters) -> int:
    """How many finding_list counts. One query."""
    return _open(filters).count()


def _open(filters: FindingFilters) -> "QuerySet[StoredFinding]":
    rows = still_open()
    if filters.code is not None:
        rows = rows.filter(code=filters.code)
    if filters.cluster is not None:
        rows = rows.filter(cluster__name=filters.cluster)
    return rows if filters.group is None else rows.filter(group_name=filters.group)


def _shown(row: StoredFinding) -> FindingRow:
    return finding_row(
        FindingCode(row.code),
        row.params,
        severity=row.severity,
        cluster=row.cluster.name,
        group=row.group_name,
        broker=row.broker,
        since=row.since,
        last_seen_at=row.last_seen_at,
    )


def checked_since(now: datetime) -> datetime:
    """A check before this time says nothing about now."""
    return now - timedelta(seconds=limits().kinds.evidence_seconds)


def late_checks(filters: FindingFilters, now: datetime) -> list[FindingRow]:
    """One for each cluster whose groups or brokers were not checked of late, or of which nothing was ever scraped. Two
    queries."""
    if filters.code not in (None, FindingCode.NOT_CHECKED):
        return []
    groups = ConsumerGroup.objects.filter(is_late(now)).order_by()
    clusters = (
        _late_clusters(now) if filters.group is None else Cluster.objects.none().annotate(is_scraped=Value(False))
    )
    if filters.cluster is not None:
        groups, clusters = groups.filter(cluster__name=filters.cluster), clusters.filter(name=filters.cluster)
    if filters.group is not None:
        groups = groups.filter(name=filters.group)
    counted = groups.values_list("cluster__name").annotate(Count("pk"), Min("health__checked_at"), Min("first_seen_at"))
    late = {
        cluster: (number, ["groups", *(["late"] if checked_at else [])], checked_at or seen_at)
        for cluster, number, checked_at, seen_at in counted
    }
    columns = ("name", "is_scraped", "checked_at", "created_at")
    for cluster, is_scraped, checked_at, added_at in clusters.values_list(*columns):
        notes = ["brokers", *(["late"] if checked_at else [])] if is_scraped else ["unscraped"]
        late.setdefault(cluster, (0, notes, checked_at or added_at))
    return [
        finding_row(
            FindingCode.NOT_CHECKED,
            {"groups": number, "notes": notes},
            severity=FindingSeverity.UNKNOWN.value,
            cluster=cluster,
            group=filters.group or "",
            broker="",
            since=since,
            last_seen_at=now,
        )
        for cluster, (number, notes, since) in sorted(late.items())
    ]


def _late_clusters(now: datetime) -> QuerySet[Any]:
    """With `is_scraped`: whether anything of it ever was."""
    groups = ConsumerGroup.objects.filter(cluster=OuterRef("pk"))
    read = Broker.objects.filter(cluster=OuterRef("pk"), last_read_at__isnull=False)
    clusters = Cluster.objects.annotate(is_scraped=Exists(groups) | Exists(read))
    return clusters.exclude(checked_at__gte=checked_since(now), is_scraped=True)


def is_late(now: datetime) -> Q:
    """Filters groups whose last check is too old, or that were never checked."""
    return Q(health__isnull=True) | Q(health__checked_at__isnull=True) | Q(health__checked_at__lt=checked_since(now))


class OpenFinding(NamedTuple):
    """A tuple in the order of COLUMNS, because there may be many."""

    code: str
    severity: str
    cluster_id: int
    group_id: int | None
    group_name: str
    broker: str
    params: dict[str, Any]
    since: datetime


@dataclass(frozen=True)
class OpenFindings:
    """Everything that is open, by its subject; and the groups and clusters of which the last check is recent."""

    by_group: Mapping[int, Sequence[OpenFinding]]
    by_broker: Mapping[tuple[int, str], Sequence[OpenFinding]]
    by_cluster: Mapping[int, Sequence[OpenFinding]]
    checked: frozenset[int]
    checked_clusters: frozenset[int]


def open_findings(now: datetime) -> OpenFindings:
    """Three queries."""
    by_group: dict[int, list[OpenFinding]] = {}
    by_broker: dict[tuple[int, str], list[OpenFinding]] = {}
    by_cluster: dict[int, list[OpenFinding]] = {}
    rows = still_open().order_by(RANK, "since", "pk")
    for one in map(OpenFinding._make, rows.values_list(*COLUMNS)):
        if one.group_id is not None:
            by_group.setdefault(one.group_id, []).append(one)
        elif one.broker and SPECS[FindingCode(one.code)].subject == "broker":
            by_broker.setdefault((one.cluster_id, one.broker), []).append(one)
        else:
            by_cluster.setdefault(one.cluster_id, []).append(one)
    recent = GroupHealth.objects.filter(checked_at__gte=checked_since(now)).values_list("group_id", flat=True)
    clusters = Cluster.objects.filter(checked_at__gte=checked_since(now)).values_list("pk", flat=True)
    return OpenFindings(by_group, by_broker, by_cluster, frozenset(recent), frozenset(clusters))


# What rules look for: codes and severities; a `-` before a code leaves it out.
def sought_codes(sought: Iterable[str]) -> frozenset[FindingCode]:
    """Codes that the list may find: those of a severity are known only by what is found."""
    listed = set(sought)
    named = {FindingCode(one) for one in listed if one in _CODES}
    if listed & set(FindingSeverity):
        named |= set(FindingCode)
    return frozenset(named - {FindingCode(one[1:]) for one in listed if one.startswith("-")})


def is_sought(found: OpenFinding, sought: Iterable[str]) -> bool:
    listed = set(sought)
    return f"-{found.code}" not in listed and (found.code in listed or found.severity in listed)


def unknown_codes(found: Sequence[OpenFinding]) -> set[FindingCode]:
    return covered((one.code, one.params) for one in found)
