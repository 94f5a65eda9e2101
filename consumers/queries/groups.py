"""Finds groups by name, and evaluates groups from rows alone while the pipeline is late."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from django.db.models import Min, Q

from consumers.models import ConsumerGroup, GroupKind, QueueSnapshot, State
from consumers.polling.flags import group_flags, has_unlisted_members, offline_share
from consumers.polling.record.totals import EVERY
from consumers.queries.limits import Limits
from consumers.vocabulary.states import BROADCASTING, PULLING, Flag, RuleCode

# What rows alone tell of groups whose evaluation is late: no history is needed to see that nobody consumes.
# They leave a group at rest though messages wait.
AT_REST = (RuleCode.PAUSED, RuleCode.OFFLINE_BY_HABIT)

# Their ids stand in queries. Who is left out keeps the last state, or is UNKNOWN.
MOST = 2000


@dataclass(frozen=True)
class LiveGroups:
    """`stopped`: groups without a member, and since when. `excused`: paused, or offline by habit, as last evaluated."""

    stopped: Mapping[int, datetime] = field(default_factory=dict)
    excused: frozenset[int] = frozenset()

    @classmethod
    def at(cls, now: datetime, limits: Limits, **chosen: object) -> "LiveGroups":
        """Of user groups whose evaluation is late; `chosen` filters them. One query."""
        late = Q(judged__judged_at__lt=limits.judged_since(now))
        never = Q(judged__isnull=True, first_seen_at__lt=limits.judged_since(now))
        concerned = Q(online=False, offline_since__isnull=False) | Q(judged__rule__in=AT_REST)
        groups = ConsumerGroup.objects.filter(late | never, concerned, kind=GroupKind.USER, **chosen)
        found = list(groups.select_related("judged").order_by("-offline_since", "pk")[: 2 * MOST])
        stopped = {group.pk: group.offline_since for group in _stopped(found, now, limits) if group.offline_since}
        excused = [group.pk for group in found if is_excused(group, now)]
        return cls(dict(list(stopped.items())[:MOST]), frozenset(excused[:MOST]))


NOBODY = LiveGroups()


def _stopped(groups: Iterable[ConsumerGroup], now: datetime, limits: Limits) -> Iterable[ConsumerGroup]:
    return (group for group in groups if is_stopped(group, now, limits))


class Membership(Protocol):
    """A group, or the values of one that are read in bulk."""

    @property
    def online(self) -> bool | None: ...
    @property
    def offline_since(self) -> datetime | None: ...
    @property
    def membership_at(self) -> datetime | None: ...


def without_members(group: Membership) -> dict[str, float]:
    """For how long brokers have answered that it has no member, as evidence; an evaluation sees no further back than
    its readings. Empty where it has some, or nobody knows."""
    if group.online is not False or group.offline_since is None or group.membership_at is None:
        return {}
    return {"without_members_seconds": (group.membership_at - group.offline_since).total_seconds()}


def is_stopped(group: ConsumerGroup, now: datetime, limits: Limits) -> bool:
    """As the rule of the evaluation: full answers without a member for long enough, and an offset that stands."""
    if group.online is not False or group.offline_since is None or group.membership_at is None:
        return False
    if group.consume_enable is False or group.consume_type == PULLING or group.message_model == BROADCASTING:
        return False
    duration = timedelta(seconds=limits.stop_seconds)
    is_watched = group.membership_at >= now - timedelta(seconds=limits.kinds.evidence_seconds)
    # The last move is noted up to a minute late.
    has_not_moved = group.moved_at is None or group.moved_at + EVERY <= now - duration
    if not is_watched or group.membership_at - group.offline_since < duration or not has_not_moved:
        return False
    return not _is_offline_on_purpose(group, now, limits)


def _is_offline_on_purpose(group: ConsumerGroup, now: datetime, limits: Limits) -> bool:
    """Or is not known to be offline: its members may be a proxy's."""
    if group.outside_store is not None or has_unlisted_members(group, limits.kinds):
        return True
    share = offline_share(group, now, limits.kinds)
    is_habitual = share is not None and share > limits.kinds.habit_offline_share
    return is_habitual or Flag.GHOST in group_flags(group, None, now, limits.kinds)


def is_excused(group: ConsumerGroup, now: datetime) -> bool:
    judged = getattr(group, "judged", None)
    if judged is None or judged.state != State.OK:
        return False
    if judged.rule == RuleCode.PAUSED:
        return group.consume_enable is False
    limit = judged.detail.get("usual_limit_seconds")
    if (
        judged.rule != RuleCode.OFFLINE_BY_HABIT
        or group.online is not False
        or limit is None
        or judged.time_lag_seconds is None
    ):
        return False
    return judged.time_lag_seconds + (now - judged.judged_at).total_seconds() <= limit


def find_group(cluster: str, group: str) -> ConsumerGroup | None:
    rows = ConsumerGroup.objects.select_related("cluster", "judged")
    return rows.filter(cluster__name=cluster, name=group).first()


def groups_there(places: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those (cluster, group) that are known. One query."""
    clusters, names = {cluster for cluster, _group in places}, {group for _cluster, group in places}
    found = ConsumerGroup.objects.filter(cluster__name__in=clusters, name__in=names)
    return set(found.values_list("cluster__name", "name"))


def first_seen(cluster: str | None) -> datetime | None:
    """When a group of the cluster, or of all, was first read; null where none was. One query."""
    groups = ConsumerGroup.objects.filter(cluster__name=cluster) if cluster else ConsumerGroup.objects.all()
    found: datetime | None = groups.aggregate(first=Min("first_seen_at"))["first"]
    return found


# SQLite takes no more than some thousand parameters in one statement.
NAMED_AT_ONCE = 500


def named_at_once(ids: Collection[int]) -> Iterator[Sequence[int]]:
    """In order, as many at a time as one statement may name."""
    ordered = sorted(ids)
    return (ordered[begin : begin + NAMED_AT_ONCE] for begin in range(0, len(ordered), NAMED_AT_ONCE))


def brokers_of(groups: Collection[int], topic: str = "") -> dict[int, set[str]]:
    """By group id, the brokers that hold queues of the group today, or of its part of the topic. One query for each
    500 groups."""
    held: dict[int, set[str]] = {}
    for some in named_at_once(groups):
        rows = QueueSnapshot.objects.filter(group__in=some).order_by()
        rows = rows.filter(queue__topic__name=topic) if topic else rows
        for group, broker in rows.values_list("group_id", "queue__broker").distinct():
            held.setdefault(group, set()).add(broker)
    return held
