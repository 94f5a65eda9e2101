"""What of a group was seen to wait, over all rungs: how much, since when, and what comes next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from .ladder_rows import LadderRung, SampledRung, WaitingLevel

NO_LEVELS = "no broker of the cluster has said which delay levels it has"
NOTHING_WAITS = "no sampled message of the group waits at a delay level"
ALL_DUE = "every sampled message was due by now"
NO_DUE_TIME = "how long a level delays is not known"


@dataclass(frozen=True)
class LadderSums:
    """Of `of` messages of all groups `looked_at` were looked into, `messages` are the group's. Nulls: `unknown`."""

    messages: int | None
    looked_at: int | None
    of: int | None
    oldest_waiting: WaitingLevel | None
    next_to_fire: WaitingLevel | None
    unknown: Mapping[str, str] = field(default_factory=dict)


def ladder_sums(rungs: Sequence[LadderRung], now: datetime) -> LadderSums:
    """One level that was not looked into leaves all of it unknown."""
    if (why := not_sampled(rungs)) is not None:
        names = ("messages", "looked_at", "of", "oldest_waiting", "next_to_fire")
        return LadderSums(None, None, None, None, None, dict.fromkeys(names, why))
    sampled = [(rung.level, rung.sampled) for rung in rungs if rung.sampled is not None]
    oldest = [WaitingLevel(level=level, at=one.oldest_waiting_at) for level, one in sampled if one.oldest_waiting_at]
    following, no_following = _next(sampled, now)
    unknown = {} if oldest else {"oldest_waiting": NOTHING_WAITS}
    return LadderSums(
        messages=sum(one.messages for _, one in sampled),
        looked_at=sum(one.looked_at for _, one in sampled),
        of=sum(one.of for _, one in sampled),
        oldest_waiting=min(oldest, key=lambda one: one.at, default=None),
        next_to_fire=following,
        unknown=unknown | ({} if following else {"next_to_fire": no_following}),
    )


def not_sampled(rungs: Sequence[LadderRung]) -> str | None:
    """Why not every level was looked into; null where all were."""
    return next((rung.unknown["sampled"] for rung in rungs if rung.sampled is None), None if rungs else NO_LEVELS)


def _next(sampled: Sequence[tuple[int, SampledRung]], now: datetime) -> tuple[WaitingLevel | None, str]:
    """Of what was sampled and is due yet: what was due by now may have come since."""
    waiting = [(level, one.next_due_at) for level, one in sampled if one.messages]
    known = [WaitingLevel(level=level, at=at) for level, at in waiting if at is not None]
    if not waiting or len(known) < len(waiting):
        return None, NO_DUE_TIME if waiting else NOTHING_WAITS
    ahead = [one for one in known if one.at > now]
    return (min(ahead, key=lambda one: one.at), "") if ahead else (None, ALL_DUE)
