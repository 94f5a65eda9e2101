"""All groups that rules evaluate, under the overlay, in one query: the same groups and numbers as on pages."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import F, Q, TextField
from django.db.models.functions import Cast

from consumers.alerts.measured import SITE, Subject
from consumers.findings.queries import OpenFindings, open_findings
from consumers.groups.listing import filtered
from consumers.groups.overlay import NO_BROKER, STATES, Overlay
from consumers.groups.row import time_lag_kind
from consumers.groups.rows import GroupFilters
from consumers.models import Client, ConsumerGroup, State, SubjectKind, TimeLagKind
from consumers.overview.tally import EVALUATION_LATE, NOT_POLLED
from consumers.polling.flags import has_unlisted_members, offline_share
from consumers.queries.groups import without_members
from consumers.queries.limits import BrokerAge, ClusterAge
from consumers.queries.queues.overlay import NOT_JUDGED_YET
from consumers.queries.unwatched import Span, unwatched_spans
from consumers.rebalances.flapping import HOUR
from consumers.vocabulary.alerts import AlertEvidence
from consumers.vocabulary.reasons import FlagReason
from consumers.vocabulary.states import BROADCASTING, POPPING, PULLING, RuleCode, UnknownReason, code_of
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason, membership_reason

# Causes of unknown groups that are not the group's own: a broker, a cluster, or the site.


@dataclass(frozen=True)
class Explainer:
    """`judged_until`: the end of the range that the newest successful pipeline run evaluated; null before the first."""

    overlay: Overlay
    judged_until: datetime | None

    @cached_property
    def findings(self) -> OpenFindings:
        """Two queries, for all rules together."""
        return open_findings(self.overlay.now)

    @cached_property
    def nothing_is_polled(self) -> bool:
        """No cluster is read any more: the poll worker is the cause, not the clusters."""
        clusters = self.overlay.clusters.values()
        return bool(clusters) and all(self.is_late(cluster) for cluster in clusters)

    @cached_property
    def nothing_is_judged(self) -> bool:
        since = self.overlay.limits.judged_since(self.overlay.now)
        return self.judged_until is None or self.judged_until < since

    def is_late(self, cluster: ClusterAge) -> bool:
        at = cluster.newest_reading_at
        return at is None or at < self.overlay.limits.read_since(self.overlay.now)

    def lacks_brokers(self, cluster: ClusterAge) -> bool:
        """The cluster's name servers listed no broker, and none is remembered."""
        return not cluster.brokers or (
            cluster.newest_error is not None and all(one.error == cluster.newest_error for one in cluster.brokers)
        )

    def of_cluster(self, cluster: ClusterAge) -> Subject | None:
        """The cause for all of a cluster; None where its brokers are asked one by one."""
        if self.is_late(cluster):
            return SITE if self.nothing_is_polled else cluster_subject(cluster)
        return cluster_subject(cluster) if self.lacks_brokers(cluster) else None

    def of_group(self, cluster_id: int, unread_by: int) -> Subject:
        """The cause for one group; `unread_by` as the overlay gives it."""
        cluster = self.overlay.clusters[cluster_id]
        whole = self.of_cluster(cluster)
        if whole is not None or unread_by == NO_BROKER:
            return whole or cluster_subject(cluster)
        return broker_subject(cluster, self.overlay.brokers[unread_by])

    def reason(self, cluster_id: int, unread_by: int) -> str:
        """The reason, as a part of a sentence."""
        cluster = self.overlay.clusters[cluster_id]
        if self.is_late(cluster):
            return str(NOT_POLLED)
        if unread_by == NO_BROKER:
            return cluster.newest_error or coded_reason(AlertEvidence.NO_BROKER_OF, cluster=cluster.name)
        broker = self.overlay.brokers[unread_by]
        unread = broker.unread_reason(self.overlay.now, self.overlay.limits)
        return unread or coded_reason(AlertEvidence.BROKER_NOT_READ, broker=broker.name)

    def unjudged_reason(self, judged_at: datetime | None) -> str | None:
        """Why an evaluation of that time does not apply now; None while it does."""
        if judged_at is not None and judged_at >= self.overlay.limits.judged_since(self.overlay.now):
            return None
        if self.nothing_is_judged:
            return str(EVALUATION_LATE)
        if judged_at is None:
            return str(NOT_JUDGED_YET)
        return coded_reason(AlertEvidence.NOT_EVALUATED_SINCE, since=iso(judged_at))


def cluster_subject(cluster: ClusterAge) -> Subject:
    return Subject(SubjectKind.CLUSTER, cluster=cluster.name)


def broker_subject(cluster: ClusterAge, broker: BrokerAge) -> Subject:
    return Subject(SubjectKind.BROKER, cluster=cluster.name, broker=broker.name)


CHUNK = 5000


class GroupValues(NamedTuple):
    """A group and its stored values; `judged_…` are null where it was never evaluated, `total_…` where it was never
    read.

    The columns of SHOWN are under the overlay: null where they are not valid now. So is `rank`, of the state that pages
    show: while evaluations are late, the last state that no newer poll result contradicts.
    """

    id: int
    cluster_id: int
    cluster: str
    name: str
    first_seen_at: datetime
    consume_enable: bool | None
    message_model: str | None
    consume_type: str | None
    membership_at: datetime | None
    membership_error: str | None
    online: bool | None
    offline_since: datetime | None
    moved_at: datetime | None
    settled_at: datetime | None
    members_changed_at: datetime | None
    outside_store: str | None
    total_unknown_reason: str | None
    total_lost_queues: int | None
    total_last_good_at: datetime | None
    total_changed_at: datetime | None
    judged_state: str | None
    judged_rule: str | None
    judged_expiry_forecast: str | None
    judged_time_lag_kind: str | None
    judged_time_lag_seconds: float | None
    judged_since: datetime | None
    judged_at: datetime | None
    rank: int
    unread_by: int | None
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    drain_seconds: float | None
    expires_unconsumed_seconds: float | None
    members: int | None
    expired_messages: int | None
    retry_share: float | None
    presence: str
    detail: str | None
    volumes_unknown: str | None

    @property
    def state(self) -> State:
        return STATES[self.rank]

    @property
    def is_time_lag_bound(self) -> bool:
        """A queue of the group may have waited for longer than its time lag says."""
        kind = time_lag_kind(
            self.lag_messages, self.time_lag_seconds, self.judged_time_lag_kind, self.judged_time_lag_seconds
        )
        return kind == TimeLagKind.AT_LEAST

    @property
    def is_lag_bound(self) -> bool:
        """The lag is known as a lower bound: a broker is behind with its dispatch, and every queue is read."""
        is_bound = code_of(self.total_unknown_reason) == UnknownReason.DISPATCH_BEHIND
        return is_bound and self.lag_messages is None and self.unread_by is None


SHOWN = (
    *("lag_messages", "lag_messages_at_least", "time_lag_seconds", "drain_seconds", "expires_unconsumed_seconds"),
    *("members", "expired_messages", "retry_share"),
)
_COLUMNS: dict[str, Any] = {
    "of_cluster": F("cluster__name"),
    "of_rank": F("shown_rank"),
    "of_unread_by": F("unread_by"),
    **{f"of_{name}": F(f"shown_{name}") for name in SHOWN},
    # JSON is parsed only for the few groups that a rule concerns.
    "of_presence": Cast("presence", TextField()),
    "of_detail": Cast("judged__detail", TextField()),
    "of_volumes_unknown": Cast("judged__volumes_unknown", TextField()),
}


def _column(name: str) -> str:
    if name == "cluster" or f"of_{name}" in _COLUMNS:
        return f"of_{name}"
    if name == "judged_at":
        return "judged__judged_at"
    for table in ("total", "judged"):
        if name.startswith(f"{table}_"):
            return name.replace("_", "__", 1)
    return name


@dataclass(frozen=True)
class GroupScan:
    """`rows[i]` belongs to `subjects[i]`."""

    overlay: Overlay
    explainer: Explainer
    rows: Sequence[GroupValues]
    subjects: Sequence[Subject]

    @property
    def now(self) -> datetime:
        return self.overlay.now

    @cached_property
    def places(self) -> dict[int, int]:
        """{group id: place}."""
        return {row.id: place for place, row in enumerate(self.rows)}

    @cached_property
    def unwatched_of_hour(self) -> Mapping[int, Sequence[Span]]:
        """By group id, times of the last hour in which nobody saw what members did. Some seven queries."""
        return unwatched_spans(self.places, self.now - HOUR, self.now)

    def unread_reason(self, place: int) -> str | None:
        """Why nothing of the group is known; None where everything of it is read."""
        row = self.rows[place]
        return None if row.unread_by is None else self.explainer.reason(row.cluster_id, row.unread_by)

    def members_reason(self, place: int) -> str:
        """Why the members of a group that is read are unknown."""
        row = self.rows[place]
        return membership_reason(row.membership_error, self.overlay.too_old(row.membership_at))

    def unjudged_reason(self, place: int) -> str | None:
        """Why no evaluated number of the group is valid; None where its newest evaluation is."""
        return self.explainer.unjudged_reason(self.rows[place].judged_at)

    def is_late(self, place: int) -> bool:
        """The group was evaluated, but too long ago: its state may be out of date."""
        return self.rows[place].judged_at is not None and self.unjudged_reason(place) is not None

    def detail(self, place: int) -> dict[str, Any]:
        row = self.rows[place]
        found = parsed(row.detail)
        return found | without_members(row) if row.judged_rule == RuleCode.NO_MEMBERS else found


def scanned(overlay: Overlay, explainer: Explainer) -> GroupScan:
    """User groups of all clusters except inactive ones, by cluster and name. One query."""
    found = filtered(overlay, GroupFilters()).annotate(**_COLUMNS).order_by("cluster__name", "name")
    names = [_column(name) for name in GroupValues._fields]
    rows = [GroupValues._make(values) for values in found.values_list(*names).iterator(chunk_size=CHUNK)]
    return GroupScan(overlay, explainer, rows, [_subject(row) for row in rows])


def _subject(row: GroupValues) -> Subject:
    return Subject(SubjectKind.GROUP, cluster=row.cluster, group=row.name, group_id=row.id)


def parsed(stored: str | None) -> dict[str, Any]:
    found = json.loads(stored) if stored else {}
    return found if isinstance(found, dict) else {}


# Groups whose lag is intended: paused groups, and groups that are offline by habit.


def suppressed_waiting(scan: GroupScan, place: int) -> str | None:
    """Why the group's lag is suppressed; None where it is not."""
    row = scan.rows[place]
    if row.consume_enable is False:
        return coded_reason(AlertEvidence.PAUSED)
    return suppressed_by_habit(scan, place)


def suppressed_by_habit(scan: GroupScan, place: int) -> str | None:
    """Suppressed only within the longest usual wait, and only while no message expires within a day: as it was
    evaluated.
    """
    row = scan.rows[place]
    if row.judged_rule == RuleCode.OFFLINE_BY_HABIT and (
        row.id in scan.overlay.live.excused or not scan.unjudged_reason(place)
    ):
        return coded_reason(AlertEvidence.OFFLINE_USUAL)
    return None


def suppressed_without_members(scan: GroupScan, place: int) -> str | None:
    """Why brokers are not expected to list a member of the group."""
    row, limits = scan.rows[place], scan.overlay.limits.kinds
    if row.consume_enable is False:
        return coded_reason(AlertEvidence.PAUSED)
    if row.consume_type == PULLING:
        return coded_reason(AlertEvidence.PULLS)
    if row.message_model == BROADCASTING:
        return coded_reason(AlertEvidence.BROADCASTING)
    group = _watched(row)
    if has_unlisted_members(group, limits):
        return coded_reason(FlagReason.UNLISTED_MEMBERS)
    share = offline_share(group, scan.now, limits)
    if share is not None and share > limits.habit_offline_share:
        values = {"percent": round(share * 100), "days": f"{limits.habit_days:g}"}
        return coded_reason(AlertEvidence.OFFLINE_BY_HABIT, **values)
    return None


# Reasons of consumerscope_group_excluded for which rules have no owners to look at.
HOLDS_NOTHING = ("pulling", "popping")


def why_nobody_holds(row: GroupValues) -> str | None:
    """Why members of the group do not report which queues and messages they hold; None where they do."""
    if (absent := why_no_owners(row)) is not None:
        return absent
    if row.consume_type == PULLING:
        return coded_reason(AlertEvidence.PULL_WITHOUT_OWNERS)
    return None


def why_no_owners(row: GroupValues) -> str | None:
    """Why there is nothing that a member of the group could hold; None where there is."""
    return coded_reason(AlertEvidence.POP_WITHOUT_OWNERS) if row.consume_type == POPPING else None


def why_outside(row: GroupValues) -> str | None:
    """Why the offsets that brokers store for the group are not its progress; None where they are."""
    if row.outside_store is None:
        return None
    return coded_reason(FlagReason.OUTSIDE_STORE, store=row.outside_store)


def _watched(row: GroupValues) -> ConsumerGroup:
    """The group with all columns that its flags depend on; not for saving."""
    return ConsumerGroup(
        pk=row.id,
        name=row.name,
        first_seen_at=row.first_seen_at,
        offline_since=row.offline_since,
        moved_at=row.moved_at,
        presence=parsed(row.presence),
    )


# Members that have not reported what they hold.


def silent_groups() -> dict[int, str]:
    """Groups with a member whose newest answer, if any, reported nothing, and that member. One query."""
    rows = Client.objects.filter(Q(running_info_at=None) | Q(running_info_error__isnull=False), gone_by=None)
    return dict(rows.values_list("group_id", "client_id"))
