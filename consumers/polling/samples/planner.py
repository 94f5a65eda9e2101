"""The samples of a reading: planned from its rows and the newest judgement, asked under budgets, remembered."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow.compute as pc
from django.db.models import Case, IntegerField, Value, When

from consumers.models import Client, Cluster, ConsumerGroup, QueueState, TimeLagKind
from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.names import is_system_group
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.stores.start import TIMESTAMP, BrokerAnswer, start_time, would_start
from consumers.vocabulary.offset_files import StartRule
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.states import UnknownReason

from .first_stored import Filtered, Lagging, ask_first, ask_tags, forget_moved, plan_first, plan_tags
from .reading import (
    FAILURE_HOLDS,
    Arrivals,
    BrokerClock,
    ClockBounds,
    FirstStored,
    QueueKey,
    SampleBudget,
    SampleMemory,
    SamplesReading,
    StartAnswer,
    TopicKey,
    evicted,
    places,
    plan_clocks,
    read_clocks,
)

# Where a member would start on queues that its group never committed on: the broker is asked as a starting member
# asks it. Neither call changes anything there (RocketMQ 5.4.0, ConsumerManageProcessor, AdminBrokerProcessor).

# The end of a queue moves on, and with it where a member would start.
ANSWER_HOLDS = timedelta(minutes=10)
CALLS_EACH = 2


@dataclass(frozen=True)
class StartRules:
    """What a group's members say of their start; null: none has said it."""

    consume_from_where: str | None = None
    consume_timestamp: str | None = None
    started_at: datetime | None = None


@dataclass(frozen=True)
class Unstarted:
    key: QueueKey
    kind: str
    min_offset: int | None
    broker_offset: int | None


def forget_started(memory: SampleMemory, brokers: Iterable[BrokerReading]) -> set[QueueKey]:
    """Takes out the answers of queues that have an offset, or are no more. Returns their keys."""
    gone: set[QueueKey] = set()
    for broker in brokers:
        if broker.rows is None:
            continue
        held = [key for key in memory.starts if key[2] == broker.name]
        at = places(broker.rows, [(group, topic, queue_id) for group, topic, _, queue_id in held])
        unstarted = {one.key for one in _unstarted(broker, list(at.values()))}
        gone |= set(held) - unstarted
    for key in gone:
        del memory.starts[key]
    return gone


def plan_starts(memory: SampleMemory, brokers: Sequence[BrokerReading], calls: int, now: datetime) -> list[Unstarted]:
    """Those that were never asked first, then the longest unasked whose answer may be out of date."""
    queues = calls // CALLS_EACH
    if queues <= 0:
        return []
    fresh: list[Unstarted] = []
    old: list[tuple[datetime, Unstarted]] = []
    for broker in brokers:
        for one in _some_unstarted(broker, queues + len(memory.starts)):
            known = memory.starts.get(one.key)
            if known is None:
                fresh.append(one)
            elif now - known.asked_at >= (ANSWER_HOLDS if known.error is None else FAILURE_HOLDS):
                old.append((known.asked_at, one))
    return [*fresh, *(one for _, one in sorted(old, key=lambda pair: pair[0]))][:queues]


async def ask_starts(
    admins: dict[str, BrokerAdmin],
    asked: Sequence[Unstarted],
    rules: Mapping[str, StartRules],
    memory: SampleMemory,
    now: datetime,
    deadline: float,
) -> dict[QueueKey, StartAnswer]:
    """One answer for each, remembered too. `rules` by group."""
    answers = await asyncio.gather(
        *(_start(admins[one.key[2]], one, rules.get(one.key[0], StartRules()), now, deadline) for one in asked)
    )
    found = {one.key: answer for one, answer in zip(asked, answers, strict=True)}
    memory.starts.update(found)
    return found


async def _start(admin: BrokerAdmin, one: Unstarted, rules: StartRules, now: datetime, deadline: float) -> StartAnswer:
    try:
        answer = await _broker_answer(admin, one, rules, deadline)
    except RocketMQError as failure:
        return StartAnswer(None, stored_reason(StartRule.AS_BROKER_ANSWERS), str(failure), now)
    start = would_start(
        one.kind,
        rules.consume_from_where,
        rules.consume_timestamp,
        rules.started_at,
        one.min_offset,
        one.broker_offset,
        answer,
    )
    return StartAnswer(start.offset, start.rule, start.reason, now)


async def _broker_answer(admin: BrokerAdmin, one: Unstarted, rules: StartRules, deadline: float) -> BrokerAnswer | None:
    group, topic, _, queue_id = one.key
    if one.broker_offset == 0:
        return None
    offset = await admin.consumer_offset(group, topic, queue_id, zero_if_in_memory=True, deadline_seconds=deadline)
    moment = start_time(rules.consume_timestamp, rules.started_at)
    if offset is not None or rules.consume_from_where != TIMESTAMP or moment is None or one.kind == "retry":
        return BrokerAnswer(offset)
    at_time = await admin.search_offset(topic, queue_id, round(moment.timestamp() * 1000), deadline_seconds=deadline)
    return BrokerAnswer(offset, at_time)


def _some_unstarted(broker: BrokerReading, size: int) -> list[Unstarted]:
    if broker.rows is None:
        return []
    never = pc.fill_null(pc.equal(broker.rows["unknown_reason"], UnknownReason.NEVER_COMMITTED), False).to_numpy()
    return _unstarted(broker, np.flatnonzero(never)[:size].tolist())


def _unstarted(broker: BrokerReading, at: Sequence[int]) -> list[Unstarted]:
    assert broker.rows is not None
    names = ["group", "topic", "queue_id", "kind", "min_offset", "broker_offset", "unknown_reason"]
    rows = broker.rows.select(names).take(list(at)).to_pylist() if at else []
    return [
        Unstarted(
            (row["group"], row["topic"], broker.name, row["queue_id"]),
            row["kind"],
            row["min_offset"],
            row["broker_offset"],
        )
        for row in rows
        if row["unknown_reason"] == UnknownReason.NEVER_COMMITTED
        and row["kind"] != "dlq"
        and not is_system_group(row["group"])
    ]


# If a broker's clock is proven wrong, its store times make no time lag exact: remembered times are discarded too.


def note_future(memory: SampleMemory, answers: Mapping[QueueKey, FirstStored], now: datetime, until: datetime) -> None:
    """A message stored after its answer arrived proves that the broker's clock is ahead."""
    for (_, _, broker, _), answer in answers.items():
        ahead = (answer.stored_at - until).total_seconds() if answer.stored_at is not None else 0
        if ahead > 0:
            memory.clocks.setdefault(broker, BrokerClock()).note(now, ClockBounds(low=ahead))


def distrust(memory: SampleMemory, allowed_seconds: float, now: datetime) -> dict[QueueKey, FirstStored]:
    """Notes wrong clocks, and replaces the time in answers of those brokers by an error."""
    wrong = {name: clock.bounds.wrong_by(allowed_seconds) for name, clock in memory.clocks.items()}
    memory.wrong_clocks = {name: sentence for name, sentence in wrong.items() if sentence is not None}
    withdrawn = {
        key: FirstStored(answer.offset, None, memory.wrong_clocks[key[2]], now)
        for key, answer in memory.first.items()
        if key[2] in memory.wrong_clocks and answer.stored_at is not None
    }
    memory.first.update(withdrawn)
    return withdrawn


# Evaluations come about every 30 s, and finding the longest time lags of a million costs a scan.
RANKED_FOR = timedelta(seconds=30)
RANKED = 500


@dataclass(frozen=True)
class SamplePlan:
    """What to ask in one reading, and which remembered answers are no longer valid."""

    first: Sequence[Lagging]
    starts: Sequence[Unstarted]
    rules: dict[str, StartRules]
    tags: Sequence[Filtered]
    gone_queues: frozenset[QueueKey]
    gone_topics: frozenset[TopicKey]
    arrivals: dict[str, Arrivals]
    clock_error_seconds: float


class SamplePlanner:
    """One per cluster and process: queries the longest time lags at intervals."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._ranked: tuple[datetime, list[QueueKey]] | None = None

    def plan(
        self, memory: SampleMemory, brokers: Sequence[BrokerReading], budget: SampleBudget, now: datetime
    ) -> SamplePlan:
        gone = forget_moved(memory, brokers) | forget_started(memory, brokers)
        starts = plan_starts(memory, brokers, budget.start_calls, now)
        wanted = self._longest(now) if budget.exact_calls else []
        tags, gone_topics = plan_tags(memory, brokers, budget.tag_calls, now)
        return SamplePlan(
            first=plan_first(memory, brokers, wanted, budget.exact_calls, now),
            starts=starts,
            rules=start_rules(self.cluster, {one.key[0] for one in starts}),
            tags=tags,
            gone_queues=frozenset(gone),
            gone_topics=frozenset(gone_topics),
            # Clocks matter to exact time lags only: without a budget for time lags no message is pulled at all.
            arrivals=plan_clocks(memory.clocks, brokers, now) if budget.exact_calls else {},
            clock_error_seconds=budget.clock_error_seconds,
        )

    def _longest(self, now: datetime) -> list[QueueKey]:
        if self._ranked is None or now - self._ranked[0] >= RANKED_FOR:
            self._ranked = now, longest_time_lags(self.cluster)
        return self._ranked[1]


def longest_time_lags(cluster: Cluster) -> list[QueueKey]:
    """The queues with the longest evaluated time lag; queues with a lower bound only come first."""
    is_open = Case(When(time_lag_kind=TimeLagKind.AT_LEAST, then=Value(0)), default=1, output_field=IntegerField())
    rows = QueueState.objects.filter(group__cluster=cluster, time_lag_seconds__gt=0)
    ordered = rows.annotate(is_open=is_open).order_by("is_open", "-time_lag_seconds", "pk")
    names = ("group__name", "queue__topic__name", "queue__broker", "queue__queue_id")
    return list(ordered.values_list(*names)[:RANKED])


def start_rules(cluster: Cluster, groups: set[str]) -> dict[str, StartRules]:
    """The members' last reports. A report of a member that left counts too: the next member will most likely report the
    same.
    """
    if not groups:
        return {}
    reported = ConsumerGroup.objects.filter(cluster=cluster, name__in=groups)
    rules = {name: StartRules(where) for name, where in reported.values_list("name", "consume_from_where")}
    client_answers = Client.objects.filter(group__cluster=cluster, group__name__in=groups, settings__isnull=False)
    for client in client_answers.select_related("group").order_by("running_info_at"):
        settings = client.settings or {}
        where = settings.get("consumeFromWhere") or rules[client.group.name].consume_from_where
        rules[client.group.name] = StartRules(where, settings.get("consumeTimestamp"), client.started_at)
    return rules


async def ask_samples(
    pool: ConnectionPool,
    brokers: Sequence[BrokerReading],
    memory: SampleMemory,
    plan: SamplePlan,
    now: datetime,
    until: datetime,
    deadline_seconds: float,
) -> SamplesReading:
    """All kinds of samples at once; a failed call is its own queue's error. `until`: the present; `now` is the
    reading's time.
    """
    clock = asyncio.get_running_loop().time
    began, calls = clock(), pool.calls
    admins = {broker.name: BrokerAdmin(pool, broker.answered_by) for broker in brokers if broker.answered_by}
    first, starts, tags, _ = await asyncio.gather(
        ask_first(admins, plan.first, memory, now, deadline_seconds),
        ask_starts(admins, plan.starts, plan.rules, memory, now, deadline_seconds),
        ask_tags(admins, plan.tags, memory, now, deadline_seconds),
        read_clocks(admins, memory.clocks, plan.arrivals, now, until, deadline_seconds),
    )
    note_future(memory, first, now, until + timedelta(seconds=clock() - began))
    first |= distrust(memory, plan.clock_error_seconds, now)
    gone = plan.gone_queues | evicted(memory.first) | evicted(memory.starts)
    return SamplesReading(
        taken_at=now,
        first=first,
        starts=starts,
        tags=tags,
        gone_queues=frozenset(gone - first.keys() - starts.keys()),
        gone_topics=frozenset(plan.gone_topics - tags.keys()),
        holding=dict(memory.first),
        clocks={name: known.bounds for name, known in memory.clocks.items()},
        calls=pool.calls - calls,
        seconds=clock() - began,
    )
