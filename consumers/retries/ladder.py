"""The retry backlog of a group by delay level: when it is redelivered, and what is on its last retry."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from consumers.models import (
    Broker,
    ConsumerGroup,
    GroupBroker,
    QueueSample,
    QueueSnapshot,
    QueueState,
    Rung,
    Topic,
    TopicKind,
)
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.members.membership import pop_answers
from consumers.queries.declared import given
from consumers.queries.limits import ClusterAge, broker_ages, limits
from consumers.queries.queues.overlay import asked_time_lag, offsets, time_lag, unjudged_reason
from consumers.retries.broker_levels import BrokerLevel, BrokerLevels, cluster_levels
from consumers.retries.ladder_rows import (
    DueRetries,
    Ladder,
    LadderRung,
    RetryPolicyRow,
    SampledRung,
    WaitingLevel,
    WheelCount,
    last_attempts,
    sample_holds,
    sampled_rung,
)
from consumers.rocketmq.bodies.config_bodies import FIRST_RETRY_LEVEL, RetryPolicy, retry_delay_ms
from consumers.rocketmq.names import RETRY_PREFIX, is_retry_topic_of, retry_topic
from consumers.vocabulary.states import MASTER, POPPING
from consumers.words.marks import labelled, listed
from consumers.words.spans import when

# The rungs of a group's ladder: each level over all brokers, with what of the group was seen to wait there.

Levels = Sequence[tuple[str, BrokerLevel]]  # by broker, those of one number


def ladder_rungs(brokers: Sequence[BrokerLevels], own: Iterable[Rung], now: datetime) -> list[LadderRung]:
    """`own`: the group's rows of them."""
    by_level: defaultdict[int, list[tuple[str, BrokerLevel]]] = defaultdict(list)
    for broker in brokers:
        for level in broker.levels:
            by_level[level.level].append((broker.broker, level))
    of_group: defaultdict[int, list[Rung]] = defaultdict(list)
    for rung in own:
        of_group[rung.level].append(rung)
    # Of a broker that has not said which levels it has, nobody knows whether it has this one.
    silent = next((broker.unknown["backlog"] for broker in brokers if not broker.levels), None)
    return [_rung(number, by_level[number], of_group[number], silent, now) for number in sorted(by_level)]


def _rung(number: int, levels: Levels, own: Sequence[Rung], silent: str | None, now: datetime) -> LadderRung:
    delay, no_delay = _delay(levels)
    no_backlog = silent or next((level.unknown["backlog"] for _, level in levels if level.backlog is None), None)
    overdue, no_overdue = _overdue(levels, silent)
    sampled, not_sampled = (None, silent) if silent else sampled_rung(levels, own, now)
    reasons = {
        "delay_seconds": no_delay,
        "broker_backlog": no_backlog,
        "overdue_seconds": no_overdue,
        "sampled": not_sampled if sampled is None else None,
    }
    return LadderRung(
        level=number,
        retry=number - FIRST_RETRY_LEVEL + 1 if number >= FIRST_RETRY_LEVEL else None,
        delay_seconds=delay,
        broker_backlog=None if no_backlog is not None else sum(level.backlog or 0 for _, level in levels),
        sampled=sampled,
        overdue_seconds=overdue,
        unknown=given(reasons),
    )


def _delay(levels: Levels) -> tuple[float | None, str | None]:
    """What all brokers say, or why there is no such delay."""
    missing = next((level.unknown["delay_seconds"] for _, level in levels if level.delay_seconds is None), None)
    if missing is not None:
        return None, missing
    delays = {broker: level.delay_seconds for broker, level in levels}
    if len(set(delays.values())) > 1:
        named = listed(f"{broker} {seconds:g} s" for broker, seconds in delays.items())
        return None, gettext("brokers delay it differently: %(delays)s") % {"delays": named}
    return next(iter(delays.values())), None


def _overdue(levels: Levels, silent: str | None) -> tuple[float | None, str | None]:
    """One broker that is late is late, whatever the others are; that none is late is known of all or not at all."""
    longest = max((level.overdue_seconds for _, level in levels if level.overdue_seconds is not None), default=None)
    if longest:
        return longest, None
    unknown = next((level.unknown["overdue_seconds"] for _, level in levels if level.overdue_seconds is None), None)
    why = silent or unknown
    return (longest, None) if why is None else (None, why)


# What is due and not consumed: the queues of a group's own retry topics, POP's among them, as they were last read.
# A message is stored in them when it is due: their time lag counts from then.

NO_QUEUES = gettext_lazy("no retry topic of the group has been read yet")


@dataclass(frozen=True)
class _Queue:
    """Of one retry queue, why one of them is null beside it. `lag_at_least` is the lag where that is known."""

    lag: int | None
    lag_at_least: int | None
    no_lag: str
    seconds: float | None
    no_seconds: str


def due_retries(group: ConsumerGroup, age: ClusterAge, now: datetime) -> DueRetries:
    """Three queries."""
    queues = _queues(group, age, now)
    if not queues:
        names = ("lag_messages", "lag_messages_at_least", "oldest_seconds")
        nothing = dict.fromkeys(names, str(NO_QUEUES))
        return DueRetries(queues=0, lag_messages=None, lag_messages_at_least=None, oldest_seconds=None, unknown=nothing)
    lags = [queue.lag_at_least for queue in queues if queue.lag_at_least is not None]
    no_lag = next((queue.no_lag for queue in queues if queue.lag is None), None)
    no_seconds = next((queue.no_seconds for queue in queues if queue.seconds is None), None)
    reasons = {
        "lag_messages": no_lag,
        "lag_messages_at_least": None if lags else no_lag,
        "oldest_seconds": no_seconds,
    }
    return DueRetries(
        queues=len(queues),
        lag_messages=sum(lags) if no_lag is None else None,
        lag_messages_at_least=sum(lags) if lags else None,
        oldest_seconds=max(queue.seconds or 0.0 for queue in queues) if no_seconds is None else None,
        unknown=given(reasons),
    )


def _queues(group: ConsumerGroup, age: ClusterAge, now: datetime) -> list[_Queue]:
    limit, brokers = limits(), {broker.name: broker for broker in age.brokers}
    named = QueueSnapshot.objects.filter(group=group, queue__topic__name__startswith=RETRY_PREFIX)
    ordered = named.select_related("queue__topic").order_by("queue__topic__name", "queue__broker", "queue__queue_id")
    rows = [row for row in ordered if kind_in_group(group.name, row.queue.topic.name) == "retry"]
    keys = [row.queue_id for row in rows]
    states = {state.queue_id: state for state in QueueState.objects.filter(group=group, queue__in=keys)}
    samples = {one.queue_id: one for one in QueueSample.objects.filter(group=group, queue__in=keys)}
    unjudged = unjudged_reason(getattr(group, "judged", None), now, limit)
    found = []
    for row in rows:
        broker, place = brokers.get(row.queue.broker), row.queue
        read = offsets(row, broker, now, limit)
        asked = asked_time_lag(samples.get(row.queue_id), read, broker, limit)
        late = time_lag(read, states.get(row.queue_id), unjudged, asked, broker.last_read_at if broker else None)
        where = gettext("%(topic)s, queue %(queue_id)s on %(broker)s") % {
            "topic": place.topic.name,
            "queue_id": place.queue_id,
            "broker": place.broker,
        }
        lags = read.lag_messages, read.lag_messages_at_least
        found.append(_Queue(*lags, labelled(where, read.reason), late.seconds, labelled(where, late.reason)))
    return found


# What of a group was seen to wait, over all rungs: how much, since when, and what comes next.

NO_LEVELS = gettext_lazy("no broker of the cluster has reported its delay levels")
NOTHING_WAITS = gettext_lazy("no sampled message of the group is at a delay level")
ALL_DUE = gettext_lazy("every sampled message is due already")
NO_DUE_TIME = gettext_lazy("the delay of a level is unknown")


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
    """One level without a sample leaves the sums unknown."""
    if (why := not_sampled(rungs)) is not None:
        names = ("messages", "looked_at", "of", "oldest_waiting", "next_to_fire")
        return LadderSums(None, None, None, None, None, dict.fromkeys(names, why))
    sampled = [(rung.level, rung.sampled) for rung in rungs if rung.sampled is not None]
    oldest = [WaitingLevel(level=level, at=one.oldest_waiting_at) for level, one in sampled if one.oldest_waiting_at]
    following, no_following = _next(sampled, now)
    unknown = {} if oldest else {"oldest_waiting": str(NOTHING_WAITS)}
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
    return next((rung.unknown["sampled"] for rung in rungs if rung.sampled is None), None if rungs else str(NO_LEVELS))


def _next(sampled: Sequence[tuple[int, SampledRung]], now: datetime) -> tuple[WaitingLevel | None, str]:
    """Of what was sampled and is due yet: what was due by now may have come since."""
    waiting = [(level, one.next_due_at) for level, one in sampled if one.messages]
    known = [WaitingLevel(level=level, at=at) for level, at in waiting if at is not None]
    if not waiting or len(known) < len(waiting):
        return None, str(NO_DUE_TIME) if waiting else str(NOTHING_WAITS)
    ahead = [one for one in known if one.at > now]
    return (min(ahead, key=lambda one: one.at), "") if ahead else (None, str(ALL_DUE))


# How many messages of a group's retry topics wait in the timer wheels of a cluster's brokers.


def wheel_count(group: ConsumerGroup, age: ClusterAge, brokers: dict[int, Broker], now: datetime) -> WheelCount:
    """`brokers` by their id. A query where a wheel holds something that might be a POP retry's of the group."""
    counts: list[tuple[str, int]] = []
    times: list[datetime] = []
    for of in age.brokers:
        row = brokers[of.id]
        why = of.unread_reason(now, limits()) or _not_counted(row, now)
        if why is not None or row.wheel is None or row.wheel_at is None:
            return _unknown(why or "")
        times.append(row.wheel_at)
        counts += row.wheel.items()
    if not times:
        return _unknown(gettext("no broker of the cluster is known yet"))
    own = [(topic, count) for topic, count in counts if topic.startswith(retry_topic(group.name))]
    normal = _normal_topics(group, {topic for topic, _ in own})
    found = [count for topic, count in own if is_retry_topic_of(topic, group.name, normal)]
    if any(count < 0 for count in found):
        return _unknown(gettext("a broker counts fewer than 0 messages in its timer wheel"))
    return WheelCount(messages=sum(found), counted_at=min(times))


def _not_counted(row: Broker, now: datetime) -> str | None:
    if row.wheel_error is not None:
        return gettext("%(broker)s gave no counts of its timer wheel: %(error)s") % {
            "broker": row.name,
            "error": row.wheel_error,
        }
    if row.wheel_at is None:
        return gettext("the timer wheel of %(broker)s has not been scraped yet") % {"broker": row.name}
    if now - row.wheel_at > sample_holds():
        return gettext("the timer wheel of %(broker)s has not been read since %(since)s") % {
            "broker": row.name,
            "since": when(row.wheel_at),
        }
    return None


def _normal_topics(group: ConsumerGroup, own: set[str]) -> set[str]:
    """Those among the rests of the names, which may be other groups' names too."""
    rests = {topic.removeprefix(retry_topic(group.name))[1:] for topic in own} - {""}
    if not rests:
        return set()
    named = Topic.objects.filter(cluster=group.cluster_id, name__in=rests, kind=TopicKind.NORMAL)
    return set(named.values_list("name", flat=True))


def _unknown(why: str) -> WheelCount:
    return WheelCount(messages=None, counted_at=None, unknown=dict.fromkeys(("messages", "counted_at"), why))


def ladder_of(cluster: str, group: str, now: datetime) -> Ladder:
    """Raises ConsumerGroup.DoesNotExist. A fixed number of queries."""
    found = ConsumerGroup.objects.select_related("cluster", "judged").get(cluster__name=cluster, name=group)
    age = broker_ages([found.cluster_id])[found.cluster_id]
    brokers = cluster_levels([found.cluster_id], now)[found.cluster_id]
    rungs = ladder_rungs(brokers, Rung.objects.filter(group=found), now)
    masters = {row.pk: row for row in Broker.objects.filter(cluster=found.cluster_id, broker_id=MASTER)}
    sums, (policy, no_policy) = ladder_sums(rungs, now), policy_of(found)
    read_at = min((broker.read_at for broker in brokers if broker.read_at is not None), default=None)
    absent = {"rungs": None if rungs else str(NO_LEVELS), "read_at": None if read_at else _why_unread(brokers)}
    absent["policy"] = None if policy else no_policy
    return Ladder(
        rungs=rungs,
        messages=sums.messages,
        looked_at=sums.looked_at,
        of=sums.of,
        oldest_waiting=sums.oldest_waiting,
        next_to_fire=sums.next_to_fire,
        last_attempts=last_attempts(found, rungs, not_sampled(rungs)),
        due=due_retries(found, age, now),
        policy=policy,
        wheel=wheel_count(found, age, masters, now),
        findings=[finding for broker in brokers for finding in broker.findings],
        read_at=read_at,
        unknown={**sums.unknown, **given(absent)},
    )


def _why_unread(brokers: Sequence[BrokerLevels]) -> str:
    return next((broker.unknown["read_at"] for broker in brokers), gettext("no broker of the cluster is known yet"))


# The retry policy that brokers keep for a group, as delays of its retries.

RETRIES = range(1, 17)
NOT_REPORTED = gettext_lazy("no broker has reported the group's retry policy")
NOT_SAID = gettext_lazy("no member has reported how it consumes")


def policy_of(group: ConsumerGroup) -> tuple[RetryPolicyRow | None, str]:
    """With why there is none. Three queries."""
    reported = (
        GroupBroker.objects.filter(group=group, configured=True)
        .order_by("broker")
        .values_list("broker", "retry_policy")
    )
    policies = {broker: policy for broker, policy in reported if policy is not None}
    if not policies:
        return None, str(NOT_REPORTED)
    (first, policy), *others = policies.items()
    for broker, other in others:
        if other != policy:
            return None, gettext("%(first)s and %(broker)s have different retry policies of the group") % {
                "first": first,
                "broker": broker,
            }
    return _row(policy, _pops(group)), ""


def _row(reported: dict[str, Any], pops: bool | None) -> RetryPolicyRow:
    delays = reported.get("delays_ms")
    numbers = (reported.get(name) for name in ("initial_ms", "max_ms", "multiplier"))
    policy = RetryPolicy(reported["kind"], None if delays is None else tuple(delays), *numbers)
    # Before the first retry a message was tried again 0 times.
    waits = [retry_delay_ms(policy, retry - 1) for retry in RETRIES]
    known = [wait / 1000 for wait in waits if wait is not None]
    unknown = (
        {}
        if len(known) == len(waits)
        else {"delays_seconds": gettext("the policy has no delay that a broker could use")}
    )
    unknown |= {} if pops is not None else {"is_heeded": str(NOT_SAID)}
    return RetryPolicyRow(
        kind=policy.kind, delays_seconds=[] if "delays_seconds" in unknown else known, is_heeded=pops, unknown=unknown
    )


def _pops(group: ConsumerGroup) -> bool | None:
    if group.consume_type == POPPING:
        return True
    answer = pop_answers([group.pk]).get(group.pk)
    return answer.pops if answer is not None else None
