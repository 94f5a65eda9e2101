"""Which kinds a group is of, decided in one place for the poll's sums, the evaluation and the pages.

Pure: stored facts and `now` in. A kind is undecided, never a "no", if the group was not watched for long enough or the
needed fact was not reported.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from consumers.models import ConsumerGroup, GroupKind
from consumers.vocabulary.reasons import FlagReason, stored_reason
from consumers.vocabulary.states import BROADCASTING, POPPING, Flag

from .kind_limits import KindLimits

EVERY_TAG = ("", "*")


@dataclass(frozen=True)
class GroupFlags:
    """`reasons`: why each flag is set. `undecided`: why others are not known. Both as `stored_reason` gives them."""

    reasons: dict[Flag, str]
    undecided: dict[Flag, str]

    def __contains__(self, flag: Flag) -> bool:
        return flag in self.reasons


def group_flags(group: ConsumerGroup, pops: bool | None, now: datetime, limits: KindLimits) -> GroupFlags:
    """`pops`: True if a member reports that it pops, False if none does, None if no member reported how it consumes."""
    reasons: dict[Flag, str] = {}
    undecided: dict[Flag, str] = {}
    if group.kind == GroupKind.SYSTEM:
        reasons[Flag.SYSTEM] = stored_reason(FlagReason.SYSTEM)
    if group.consume_enable is False:
        reasons[Flag.PAUSED] = stored_reason(FlagReason.PAUSED)
    elif group.consume_enable is None:
        undecided[Flag.PAUSED] = stored_reason(FlagReason.CONFIGURATION_UNREAD)
    if topics := retired_topics(group, now, limits):
        reasons[Flag.RETIRED_TOPICS] = stored_reason(FlagReason.RETIRED_TOPICS, topics=sorted(topics))
    if outside := outside_reason(group):
        reasons[Flag.OUTSIDE_STORE] = outside
    if has_unlisted_members(group, limits):
        reasons[Flag.UNLISTED_MEMBERS] = stored_reason(FlagReason.UNLISTED_MEMBERS)
    if group.message_model == BROADCASTING:
        reasons[Flag.BROADCASTING] = stored_reason(FlagReason.BROADCASTING)
    if pops or group.consume_type == POPPING:
        reasons[Flag.POP] = stored_reason(FlagReason.POP)
    elif pops is None:
        undecided[Flag.POP] = stored_reason(FlagReason.CONSUME_TYPE_UNKNOWN)
    if filters := [s for s in group.subscriptions if s["expression"] not in EVERY_TAG]:
        tags = [stored_reason(FlagReason.TAGS_OF_TOPIC, tags=s["expression"], topic=s["topic"]) for s in filters]
        reasons[Flag.TAG_FILTERED] = stored_reason(FlagReason.TAG_FILTERED, tags=tags)
    _by_watching(group, now, limits, reasons, undecided)
    return GroupFlags(reasons, undecided)


def _by_watching(
    group: ConsumerGroup,
    now: datetime,
    limits: KindLimits,
    reasons: dict[Flag, str],
    undecided: dict[Flag, str],
) -> None:
    watched = now - group.first_seen_at
    if group.offline_since is not None:
        quiet = now - max(group.offline_since, group.moved_at or group.offline_since)
        if not _asked_lately(group, now, limits):
            undecided[Flag.GHOST] = stored_reason(FlagReason.MEMBERS_NOT_REPORTED)
        elif quiet >= timedelta(seconds=limits.ghost_after_seconds):
            reasons[Flag.GHOST] = stored_reason(FlagReason.INACTIVE, days=quiet.days)
        elif watched < timedelta(seconds=limits.ghost_after_seconds):
            needed = f"{limits.ghost_after_seconds / 86400:g}"
            undecided[Flag.GHOST] = stored_reason(FlagReason.WATCHED_TOO_SHORT, days=watched.days, needed=needed)
    share, days = offline_share(group, now, limits), f"{limits.habit_days:g}"
    if share is None:
        undecided[Flag.HABITUAL] = stored_reason(FlagReason.MEMBERS_NOT_WATCHED, days=days)
    elif share > limits.habit_offline_share:
        reasons[Flag.HABITUAL] = stored_reason(FlagReason.OFFLINE_BY_HABIT, percent=round(share * 100), days=days)


def _asked_lately(group: ConsumerGroup, now: datetime, limits: KindLimits) -> bool:
    """Whether the group was asked recently. Otherwise nobody watched: a week without polling makes no group
    inactive.
    """
    evidence = timedelta(seconds=limits.evidence_seconds)
    return group.membership_at is not None and group.membership_at >= now - evidence


def outside_reason(group: ConsumerGroup) -> str | None:
    """Why the offsets that brokers hold for the group are not its progress, as it is stored; None if they are."""
    return group.outside_store and stored_reason(FlagReason.OUTSIDE_STORE, store=group.outside_store)


def retired_topics(group: ConsumerGroup, now: datetime, limits: KindLimits) -> dict[str, datetime]:
    """Topics with offsets that no member of an online group has subscribed to for long, and since when."""
    if not group.online:
        return {}
    long_ago = now - timedelta(seconds=limits.retired_after_seconds)
    since = {topic: datetime.fromisoformat(at) for topic, at in group.unsubscribed.items()}
    return {topic: at for topic, at in since.items() if at <= long_ago}


def has_unlisted_members(group: ConsumerGroup, limits: KindLimits) -> bool:
    """Whether the group consumes although every broker reports no member: clients of a proxy register at the proxy.

    `moved_at` is consumption only: see consumers.polling.record.totals.
    """
    if group.offline_since is None or group.moved_at is None:
        return False
    return group.moved_at > group.offline_since + timedelta(seconds=limits.unlisted_after_seconds)


def offline_share(group: ConsumerGroup, now: datetime, limits: KindLimits) -> float | None:
    """The share of complete answers without a member; null until the group was watched for all of the days."""
    first = (now - timedelta(days=limits.habit_days)).date().isoformat()
    if group.first_seen_at > now - timedelta(days=limits.habit_days) or not group.presence:
        return None
    if min(group.presence) > (now - timedelta(days=limits.habit_days - 1)).date().isoformat():
        return None
    answers = [counts for day, counts in group.presence.items() if day >= first]
    full = sum(one[0] for one in answers)
    return sum(one[1] for one in answers) / full if full else None


def ghosts(now: datetime, limits: KindLimits) -> Q:
    """The inactive flag as a database filter: lists of 10,000 groups are filtered by it."""
    long_ago = now - timedelta(seconds=limits.ghost_after_seconds)
    moved = Q(moved_at__isnull=True) | Q(moved_at__lte=long_ago)
    asked = Q(membership_at__gte=now - timedelta(seconds=limits.evidence_seconds))
    return asked & Q(offline_since__lte=long_ago) & moved
