"""What of a group waits on which delay level, when it comes back, and what of it dies if it fails once more."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from consumers.models import Broker, ConsumerGroup, Rung
from consumers.rocketmq.delay_levels import FIRST_RETRY_LEVEL
from consumers.selectors.brokers import MASTER, broker_ages

from .broker_level import BrokerLevel, BrokerLevels
from .delay_levels import levels_of
from .due_retries import due_retries
from .ladder_rows import Ladder, LadderRung, WaitingLevel
from .last_attempts import last_attempts
from .retry_policies import policy_of
from .sampled_rungs import sampled_rung
from .timer_wheels import wheel_count

NO_LEVELS = "no broker of the cluster has said which delay levels it has"
NOTHING_WAITS = "no sampled message of the group waits at a delay level"
ALL_DUE = "every sampled message was due by now"
NO_DUE_TIME = "how long a level delays is not known"


def ladder_of(cluster: str, group: str, now: datetime) -> Ladder:
    """Raises ConsumerGroup.DoesNotExist. A fixed number of queries."""
    found = ConsumerGroup.objects.select_related("cluster", "judged").get(cluster__name=cluster, name=group)
    ages = broker_ages([found.cluster_id])
    brokers = levels_of(ages, now)[found.cluster_id]
    rungs = _rungs(brokers, Rung.objects.filter(group=found), now)
    masters = {row.pk: row for row in Broker.objects.filter(cluster=found.cluster_id, broker_id=MASTER)}
    not_sampled = _not_sampled(rungs)
    oldest, no_oldest = _oldest(rungs, not_sampled)
    following, no_following = _next(rungs, not_sampled, now)
    policy, no_policy = policy_of(found)
    read_at = min((broker.read_at for broker in brokers if broker.read_at is not None), default=None)
    sampled = [rung.sampled for rung in rungs if rung.sampled is not None] if not_sampled is None else []
    unknown = {"rungs": NO_LEVELS} if not rungs else {}
    unknown |= {} if read_at else {"read_at": _why_unread(brokers)}
    unknown |= dict.fromkeys(("messages", "looked_at", "of"), not_sampled) if not_sampled else {}
    unknown |= {} if oldest else {"oldest_waiting": no_oldest}
    unknown |= {} if following else {"next_to_fire": no_following}
    unknown |= {} if policy else {"policy": no_policy}
    return Ladder(
        rungs=rungs,
        messages=None if not_sampled else sum(rung.messages for rung in sampled),
        looked_at=None if not_sampled else sum(rung.looked_at for rung in sampled),
        of=None if not_sampled else sum(rung.of for rung in sampled),
        oldest_waiting=oldest,
        next_to_fire=following,
        last_attempts=last_attempts(found, rungs, not_sampled),
        due=due_retries(found, ages[found.cluster_id], now),
        policy=policy,
        wheel=wheel_count(found, ages[found.cluster_id], masters, now),
        findings=[finding for broker in brokers for finding in broker.findings],
        read_at=read_at,
        unknown=unknown,
    )


def _rungs(brokers: Sequence[BrokerLevels], own: Iterable[Rung], now: datetime) -> list[LadderRung]:
    by_level: defaultdict[int, list[tuple[str, BrokerLevel]]] = defaultdict(list)
    for broker in brokers:
        for level in broker.levels:
            by_level[level.level].append((broker.broker, level))
    of_group: defaultdict[int, list[Rung]] = defaultdict(list)
    for rung in own:
        of_group[rung.level].append(rung)
    silent = next((broker.unknown["backlog"] for broker in brokers if not broker.levels), None)
    return [_rung(number, by_level[number], of_group[number], silent, now) for number in sorted(by_level)]


def _rung(
    number: int, levels: Sequence[tuple[str, BrokerLevel]], own: Sequence[Rung], silent: str | None, now: datetime
) -> LadderRung:
    """`silent`: why nothing is known of a broker's levels, where one has said nothing yet."""
    unknown: dict[str, str] = {}
    delays = {level.delay_seconds for _, level in levels}
    if len(delays) > 1 or None in delays:
        missing = next((level.unknown["delay_seconds"] for _, level in levels if level.delay_seconds is None), None)
        unknown["delay_seconds"] = missing or _differing(levels)
    why = silent or next((level.unknown["backlog"] for _, level in levels if level.backlog is None), None)
    if why is not None:
        unknown["backlog"] = why
    overdue = [level.overdue_seconds for _, level in levels if level.overdue_seconds is not None]
    not_told = silent or next(
        (level.unknown["overdue_seconds"] for _, level in levels if level.overdue_seconds is None), None
    )
    # One broker that is late is late, whatever the others are.
    longest = max(overdue, default=None)
    if not_told is not None and not longest:
        longest, unknown["overdue_seconds"] = None, not_told
    sampled, not_sampled = (None, silent) if silent else sampled_rung(levels, own, now)
    if sampled is None:
        unknown["sampled"] = not_sampled
    return LadderRung(
        level=number,
        retry=number - FIRST_RETRY_LEVEL + 1 if number >= FIRST_RETRY_LEVEL else None,
        delay_seconds=None if "delay_seconds" in unknown else next(iter(delays)),
        broker_backlog=None if why is not None else sum(level.backlog or 0 for _, level in levels),
        sampled=sampled,
        overdue_seconds=longest,
        unknown={("broker_backlog" if name == "backlog" else name): reason for name, reason in unknown.items()},
    )


def _differing(levels: Sequence[tuple[str, BrokerLevel]]) -> str:
    said = ", ".join(
        f"{broker} {level.delay_seconds:g} s" for broker, level in levels if level.delay_seconds is not None
    )
    return f"brokers delay it differently: {said}"


def _why_unread(brokers: Sequence[BrokerLevels]) -> str:
    return next((broker.unknown["read_at"] for broker in brokers), "no broker of the cluster is known yet")


def _not_sampled(rungs: Sequence[LadderRung]) -> str | None:
    """Why not every level was looked into; null where all were."""
    return next((rung.unknown["sampled"] for rung in rungs if rung.sampled is None), None if rungs else NO_LEVELS)


def _oldest(rungs: Sequence[LadderRung], not_sampled: str | None) -> tuple[WaitingLevel | None, str]:
    found = [
        WaitingLevel(level=rung.level, at=rung.sampled.oldest_waiting_at)
        for rung in rungs
        if rung.sampled and rung.sampled.oldest_waiting_at
    ]
    if not_sampled is not None or not found:
        return None, not_sampled or NOTHING_WAITS
    return min(found, key=lambda one: one.at), ""


def _next(rungs: Sequence[LadderRung], not_sampled: str | None, now: datetime) -> tuple[WaitingLevel | None, str]:
    """Of what was sampled and is due yet: what was due by now may have come since."""
    waiting = [rung for rung in rungs if rung.sampled and rung.sampled.messages]
    if not_sampled is not None or not waiting:
        return None, not_sampled or NOTHING_WAITS
    found = [
        WaitingLevel(level=rung.level, at=rung.sampled.next_due_at)
        for rung in waiting
        if rung.sampled and rung.sampled.next_due_at
    ]
    if len(found) < len(waiting):
        return None, NO_DUE_TIME
    ahead = [one for one in found if one.at > now]
    return (min(ahead, key=lambda one: one.at), "") if ahead else (None, ALL_DUE)
