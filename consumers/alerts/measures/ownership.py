"""How many queues of each group no member consumes although there are members, and how many two members consume."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Exists, OuterRef

from consumers.alerts.measured import Column, MeasureSpec, Metric, Series, Unit, number_column
from consumers.groups.shown import UnknownWord
from consumers.models import Assignment, Client, ConsumerGroup, Measure, Queue, QueueSnapshot, SubjectKind, TopicKind
from consumers.ownership.evidence import ROUTE, STABLE_AFTER
from consumers.ownership.findings import ownership_check
from consumers.ownership.group_shares import POP
from consumers.ownership.reports import COLUMNS, KnownQueue
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.states import BROADCASTING
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason, membership_reason

from .scan import HOLDS_NOTHING, GroupScan, GroupValues, silent_groups, why_no_owners, why_nobody_holds

# Unowned and doubly owned queues of all groups at once, with the same result as the check of one group.
# The database selects candidates; what members reported of themselves then decides.

CHUNK = 500
Suspects = Mapping[int, Collection[int]]  # queue ids by group id


class OwnerCounts(NamedTuple):
    """`topics`: {topic: how many of its queues}. `unsure`: a member that has not reported what it holds, or "";
    ONE_OF_SHARED where two processes share an id.
    """

    topics: Mapping[str, int]
    unsure: str


NO_OWNER_COUNTS = OwnerCounts({}, "")
# No client id: those have an "@".
ONE_OF_SHARED = "shared"


@dataclass
class Members:
    """What the present members of one group reported; `topics`: their subscriptions, except topics consumed by pop."""

    topics: set[str] = field(default_factory=set)
    popped: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)


def nobodys(groups: Collection[int], now: datetime) -> dict[int, OwnerCounts]:
    """Queues without an owner, of those of `groups` that have offsets of them. Retry topics are excluded."""
    held = Assignment.objects.filter(group=OuterRef("group"), queue=OuterRef("queue"), gone_by=None)
    rows = QueueSnapshot.objects.filter(~Exists(held), queue__readable=True, group__members__gt=0)
    suspects = _by_group(rows.exclude(queue__topic__kind=TopicKind.RETRY).values_list("group_id", "queue_id"), groups)
    return {
        group: OwnerCounts({} if members.silent else topics, min(members.silent, default=""))
        for group, members, topics in _counted(suspects, heard_of=now - ROUTE)
    }


def held_twice(groups: Collection[int], now: datetime) -> dict[int, OwnerCounts]:
    """For each of `groups`: queues that several members hold, or a member that does not report what it holds.

    Rows of what a silent member held remain, and prove nothing.
    """
    rows = Assignment.objects.filter(gone_by=None).order_by().values_list("group_id", "queue_id")
    suspects = _by_group((one[:2] for one in rows.annotate(n=Count("pk")).filter(n__gt=1)), groups)
    found = {group: OwnerCounts({}, client_id) for group, client_id in silent_groups().items() if group in groups}
    silent = _silent_holders(suspects)
    proven = {group: [one for one in queues if (group, one) not in silent] for group, queues in suspects.items()}
    for group, members, topics in _counted(proven):
        found[group] = OwnerCounts(topics, min(members.silent, default=""))
    return found


def _by_group(pairs: Iterable[tuple[int, int]], groups: Collection[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for group, queue in pairs:
        if group in groups:
            found.setdefault(group, []).append(queue)
    return found


def _counted(suspects: Suspects, heard_of: datetime | None = None) -> Iterator[tuple[int, Members, dict[str, int]]]:
    """Counts candidates that clients can read, of topics that members subscribe to. Queues younger than `heard_of` are
    excluded: members may not know them yet.
    """
    members = _members(suspects)
    queues = _queues({queue for of_group in suspects.values() for queue in of_group})
    for group, of_group in suspects.items():
        reported, topics = members.get(group, Members()), dict[str, int]()
        for queue in (queues[pk] for pk in of_group if pk in queues):
            is_theirs = queue.topic in reported.topics - reported.popped and queue.readable
            is_young = heard_of is not None and queue.there_since is not None and queue.there_since > heard_of
            if is_theirs and not is_young:
                topics[queue.topic] = topics.get(queue.topic, 0) + 1
        yield group, reported, topics


def _queues(wanted: Collection[int]) -> dict[int, KnownQueue]:
    found: dict[int, KnownQueue] = {}
    for part in _parts(wanted):
        rows = Queue.objects.filter(pk__in=part).exclude(topic__kind=TopicKind.RETRY).values_list(*COLUMNS)
        found |= {one.pk: one for one in map(KnownQueue._make, rows)}
    return found


def _members(groups: Collection[int]) -> dict[int, Members]:
    found: dict[int, Members] = {}
    columns = ("group_id", "client_id", "running_info_at", "running_info_error", "subscriptions", "broker_assigned")
    for part in _parts(groups):
        rows: Iterable[tuple[Any, ...]] = Client.objects.filter(group__in=part, gone_by=None).values_list(*columns)
        for group, client_id, answered_at, error, subscriptions, assigned in rows:
            members = found.setdefault(group, Members())
            members.topics |= {one["topic"] for one in subscriptions or ()}
            members.popped |= {str(one["topic"]) for one in assigned or () if one.get("mode") == POP}
            if error is not None or answered_at is None or subscriptions is None:
                members.silent.add(client_id)
    return found


def _silent_holders(suspects: Suspects) -> set[tuple[int, int]]:
    """(group id, queue id) of queues with an owner that did not answer the last time."""
    members, found = _members(suspects), set[tuple[int, int]]()
    wanted = {group for group in suspects if members.get(group, Members()).silent}
    for part in _parts(wanted):
        rows = Assignment.objects.filter(group__in=part, gone_by=None).values_list("group_id", "queue_id", "client_id")
        found |= {(group, queue) for group, queue, client_id in rows if client_id in members[group].silent}
    return found


def _parts(wanted: Collection[int]) -> Iterator[list[int]]:
    """SQLite accepts no more than some thousand parameters in one statement."""
    ordered = sorted(wanted)
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]


FindQueues = Callable[[Collection[int], datetime], dict[int, OwnerCounts]]
# Where two processes of a group share a client id, only the check of expected owners tells which queues both hold.
MOST_CHECKED = 50


def unowned(scan: GroupScan, topic: str | None = None) -> Column:
    return _column(scan, nobodys, "unowned", topic, _unowned_words)


def doubly_owned(scan: GroupScan, topic: str | None = None) -> Column:
    return _column(scan, held_twice, "doubly_owned", topic, _doubly_owned_words)


def _unowned_words(value: float) -> str:
    return coded_reason(AlertEvidence.UNOWNED, unowned_queues=round(value))


def _doubly_owned_words(value: float) -> str:
    return coded_reason(AlertEvidence.DOUBLY_OWNED, shared_queues=round(value))


def _column(
    scan: GroupScan, find_queues: FindQueues, kind: str, topic: str | None, words: Callable[[float], str]
) -> Column:
    """`topic`: only its queues are counted."""
    comparable = {row.id for place, row in enumerate(scan.rows) if _why_not(scan, place) is None}
    found = find_queues(comparable, scan.now) | _of_processes(comparable, kind, scan.now)

    def value(place: int) -> float | None:
        row = scan.rows[place]
        if why_no_owners(row) is not None:
            return None
        if _has_none(row):
            return 0.0
        if row.id not in comparable:
            return None
        of_group = found.get(row.id, NO_OWNER_COUNTS)
        count = sum(of_group.topics.values()) if topic is None else of_group.topics.get(topic, 0)
        return None if not count and of_group.unsure else float(count)

    def reason(place: int) -> str:
        who = found.get(scan.rows[place].id, NO_OWNER_COUNTS).unsure
        if reason := _why_not(scan, place):
            return reason
        if who == ONE_OF_SHARED:
            return coded_reason(AlertEvidence.OWNED_UNREPORTED_SHARED)
        return coded_reason(AlertEvidence.OWNED_UNREPORTED, client=who)

    def suppressed(place: int) -> str | None:
        return coded_reason(AlertEvidence.EVERY_OWNER) if scan.rows[place].message_model == BROADCASTING else None

    def absent(place: int) -> str | None:
        return why_no_owners(scan.rows[place])

    def is_bound(place: int) -> bool:
        """Whoever is silent may hold more."""
        return bool(found.get(scan.rows[place].id, NO_OWNER_COUNTS).unsure)

    values = [value(place) for place in range(len(scan.rows))]
    return number_column(values, reason, words, suppressed=suppressed, is_bound=is_bound, absent=absent)


def _has_none(row: GroupValues) -> bool:
    """No queue can be unowned: there is no member, or every member holds all queues."""
    return row.unread_by is None and (row.members == 0 or row.message_model == BROADCASTING)


def _why_not(scan: GroupScan, place: int) -> str | None:
    """Why ownership is unknown; None where two complete readings agree."""
    row, now = scan.rows[place], scan.now
    if reason := scan.unread_reason(place) or why_nobody_holds(row):
        return reason
    if row.membership_at is None or row.membership_error is not None:
        return membership_reason(row.membership_error)
    if now - row.membership_at > timedelta(seconds=scan.overlay.limits.kinds.evidence_seconds):
        return coded_reason(AlertEvidence.MEMBERS_NOT_SINCE, since=iso(row.membership_at))
    if row.settled_at is None or (row.members_changed_at is not None and now - row.members_changed_at < STABLE_AFTER):
        return coded_reason(AlertEvidence.SETTLING)
    return None


def _of_processes(groups: Collection[int], kind: str, now: datetime) -> dict[int, OwnerCounts]:
    """Groups where two processes share a client id. Some ten queries for each of these few groups."""
    rows = Client.objects.filter(gone_by=None, duplicated_since__isnull=False).order_by("group_id")
    found = [group for group in rows.values_list("group_id", flat=True).distinct() if group in groups]
    results = {group: OwnerCounts({}, ONE_OF_SHARED) for group in found[MOST_CHECKED:]}
    silent = silent_groups() if found else {}
    for group in ConsumerGroup.objects.filter(pk__in=found[:MOST_CHECKED]).select_related("cluster"):
        topics: dict[str, int] = {}
        check = ownership_check(group, now)
        for finding in check.findings:
            for queue in getattr(finding, kind):
                topics[queue.topic] = topics.get(queue.topic, 0) + 1
        results[group.pk] = OwnerCounts(topics, silent.get(group.pk, "" if check.is_read else ONE_OF_SHARED))
    return results


MEASURES = (
    MeasureSpec(
        code=Measure.UNOWNED,
        unit=Unit.COUNT,
        reads={SubjectKind.GROUP: unowned, SubjectKind.TOPIC: lambda of: unowned(of.scan, of.topic)},
        metric=Metric(
            "unowned_queues",
            "Queues of topics that members subscribe to, held by none of them.",
            UnknownWord.OWNERS_UNKNOWN,
            ("members",),
            bound="at_least",
        ),
        series=Series("consumerscope_group_unowned_queues", HOLDS_NOTHING),
    ),
    MeasureSpec(
        code=Measure.DOUBLY_OWNED,
        unit=Unit.COUNT,
        reads={SubjectKind.GROUP: doubly_owned, SubjectKind.TOPIC: lambda of: doubly_owned(of.scan, of.topic)},
        metric=Metric(
            "doubly_owned_queues",
            "Queues that two members hold.",
            UnknownWord.OWNERS_UNKNOWN,
            ("members",),
            bound="at_least",
        ),
        series=Series("consumerscope_group_doubly_owned_queues", HOLDS_NOTHING),
    ),
)
