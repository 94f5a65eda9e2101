"""Whether what a group sends back arrives: in its retry topics, its dead-letter topic, or at a delay level."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Max, Min
from django.utils.translation import gettext_lazy

from consumers.models import ConsumerGroup, GroupWindow, QueueSnapshot, Rung, TopicKind
from consumers.queries.limits import BrokerAge, limits
from consumers.retries.checks.brokers import accepted
from consumers.retries.checks.observed import facts_of

MINUTE = timedelta(minutes=1)
# What failed longer ago says nothing of what fails now.
LOOKED_BACK = timedelta(minutes=3)
OLD_WAITING = gettext_lazy("some are at delay levels, and the time of the newest send-back is unknown")
NO_WINDOWS = gettext_lazy("send-backs are not aggregated yet")
MAYBE_EARLIER = gettext_lazy("send-backs since then are not known yet")


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
class RetryArrivals:
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
            return (True, None) if self.waiting_since >= moment else (None, str(OLD_WAITING))
        if not minutes:
            return None, str(NO_WINDOWS)
        is_quiet = self.changed_at is None or self.changed_at <= moment
        if all(one.nothing or (is_quiet and one.into_dlq == 0) for one in minutes):
            return False, None
        return None, str(MAYBE_EARLIER)


def retry_arrivals(
    groups: Collection[ConsumerGroup], brokers: Mapping[int, Sequence[BrokerAge]], now: datetime
) -> dict[int, RetryArrivals]:
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
        group.pk: RetryArrivals(
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


def refusals(groups: Sequence[ConsumerGroup], now: datetime) -> dict[int, str]:
    """By the group's id: why brokers refuse every failed message of it. Needs the groups' clusters loaded."""
    if not groups:
        return {}
    found = ((group.pk, accepted(facts)) for group, facts in zip(groups, facts_of(groups, now), strict=True))
    return {pk: condition.detail.removesuffix(".") for pk, condition in found if condition.is_failing}
