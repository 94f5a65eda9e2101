"""Whether what a group sends back comes back: into its retry topics, its dead letters, or onto a delay level."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Max, Min

from consumers.models import ConsumerGroup, GroupWindow, QueueSnapshot, Rung, TopicKind
from consumers.selectors.brokers import BrokerAge
from consumers.selectors.limits import limits

MINUTE = timedelta(minutes=1)
# What failed longer ago says nothing of what fails now.
LOOKED_BACK = timedelta(minutes=3)
OLD_WAITING = "some wait on delay levels, and when the newest of them was sent back is not known"
NO_WINDOWS = "what came back of them is not aggregated yet"
MAYBE_EARLIER = "whether any came back since is not known yet"


@dataclass(frozen=True)
class MinuteVolumes:
    """What one minute from `start` saw."""

    start: datetime
    into_retry: int | None
    into_dlq: int | None

    @property
    def something(self) -> bool:
        return bool(self.into_retry) or bool(self.into_dlq)

    @property
    def nothing(self) -> bool:
        return self.into_retry == 0 and self.into_dlq == 0


@dataclass(frozen=True)
class CameBack:
    """Of one group: its last minutes, when a number of its retry topics last changed, and since when the longest
    waiting of those that were found on delay levels waits. Null is none; `unread` is why that is not known."""

    minutes: Sequence[MinuteVolumes] = field(default_factory=list)
    changed_at: datetime | None = None
    waiting_since: datetime | None = None
    unread: str | None = None

    def since(self, moment: datetime) -> tuple[bool | None, str | None]:
        """Whether anything did since then, and why that is not known where it is not."""
        minutes = [one for one in self.minutes if one.start > moment - MINUTE]
        if any(one.something for one in minutes if one.start >= moment):
            return True, None
        if self.unread is not None:
            return None, self.unread
        if self.waiting_since is not None:
            return (True, None) if self.waiting_since >= moment else (None, OLD_WAITING)
        if not minutes:
            return None, NO_WINDOWS
        is_quiet = self.changed_at is None or self.changed_at <= moment
        if all(one.nothing or (is_quiet and one.into_dlq == 0) for one in minutes):
            return False, None
        return None, MAYBE_EARLIER


def came_back(
    groups: Collection[ConsumerGroup], brokers: Mapping[int, Sequence[BrokerAge]], now: datetime
) -> dict[int, CameBack]:
    """By the group's id. Three queries. `brokers`: of each cluster, by its id."""
    keys = [group.pk for group in groups]
    if not keys:
        return {}
    unread = {cluster: _unread(ages, now) for cluster, ages in brokers.items()}
    minutes = _minutes(keys, now)
    retries = QueueSnapshot.objects.filter(group__in=keys, queue__topic__kind=TopicKind.RETRY)
    changed = dict(retries.values_list("group").annotate(at=Max("changed_at")))
    rungs = Rung.objects.filter(group__in=keys, messages__gt=0)
    waiting = dict(rungs.values_list("group").annotate(since=Min("oldest_stored_at")))
    return {
        group.pk: CameBack(
            minutes.get(group.pk, []), changed.get(group.pk), waiting.get(group.pk), unread.get(group.cluster_id)
        )
        for group in groups
    }


def _minutes(groups: Collection[int], now: datetime) -> dict[int, list[MinuteVolumes]]:
    rows = GroupWindow.objects.filter(group__in=groups, step_seconds=60, start__gte=now - LOOKED_BACK - MINUTE)
    found: dict[int, list[MinuteVolumes]] = {}
    names = ("group", "start", "into_retry", "into_dlq")
    for group, start, into_retry, into_dlq in rows.order_by("start").values_list(*names):
        found.setdefault(group, []).append(MinuteVolumes(start, into_retry, into_dlq))
    return found


def _unread(brokers: Iterable[BrokerAge], now: datetime) -> str | None:
    reasons = (broker.unread_reason(now, limits()) for broker in brokers)
    return next((reason for reason in reasons if reason is not None), None)
