"""The samples of a reading: planned from its rows and the newest judgement, asked under budgets, remembered."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, IntegerField, Value, When

from consumers.models import Client, Cluster, ConsumerGroup, QueueState, TimeLagKind
from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.pool import ConnectionPool

from .broker_clock import Arrivals, plan_clocks, read_clocks
from .clock_trust import distrust, note_future
from .first_stored import Lagging, ask_first, forget_moved, plan_first
from .reading import QueueKey, SampleBudget, SampleMemory, SamplesReading, TopicKey, evicted
from .starts import StartRules, Unstarted, ask_starts, forget_started, plan_starts
from .tags import Filtered, ask_tags, plan_tags

# Judgements come every half a minute or so, and asking for the longest of a million costs a scan.
RANKED_FOR = timedelta(seconds=30)
RANKED = 500


@dataclass(frozen=True)
class SamplePlan:
    """What to ask in one reading, and which remembered answers no longer hold."""

    first: Sequence[Lagging]
    starts: Sequence[Unstarted]
    rules: dict[str, StartRules]
    tags: Sequence[Filtered]
    gone_queues: frozenset[QueueKey]
    gone_topics: frozenset[TopicKey]
    arrivals: dict[str, Arrivals]
    clock_error_seconds: float


class SamplePlanner:
    """One per cluster and process: looks the longest time lags up now and then."""

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
            # Clocks matter to exact time lags only: without a budget for those no message is pulled at all.
            arrivals=plan_clocks(memory.clocks, brokers, now) if budget.exact_calls else {},
            clock_error_seconds=budget.clock_error_seconds,
        )

    def _longest(self, now: datetime) -> list[QueueKey]:
        if self._ranked is None or now - self._ranked[0] >= RANKED_FOR:
            self._ranked = now, longest_time_lags(self.cluster)
        return self._ranked[1]


def longest_time_lags(cluster: Cluster) -> list[QueueKey]:
    """The queues whose judged time lag is longest: first those of which only a lower bound is known."""
    is_open = Case(When(time_lag_kind=TimeLagKind.AT_LEAST, then=Value(0)), default=1, output_field=IntegerField())
    rows = QueueState.objects.filter(group__cluster=cluster, time_lag_seconds__gt=0)
    ordered = rows.annotate(is_open=is_open).order_by("is_open", "-time_lag_seconds", "pk")
    names = ("group__name", "queue__topic__name", "queue__broker", "queue__queue_id")
    return list(ordered.values_list(*names)[:RANKED])


def start_rules(cluster: Cluster, groups: set[str]) -> dict[str, StartRules]:
    """What members have said last; one that is gone said it too, and the next one will most likely say the same."""
    if not groups:
        return {}
    told = ConsumerGroup.objects.filter(cluster=cluster, name__in=groups)
    rules = {name: StartRules(where) for name, where in told.values_list("name", "consume_from_where")}
    spoken = Client.objects.filter(group__cluster=cluster, group__name__in=groups, settings__isnull=False)
    for client in spoken.select_related("group").order_by("running_info_at"):
        said = client.settings or {}
        where = said.get("consumeFromWhere") or rules[client.group.name].consume_from_where
        rules[client.group.name] = StartRules(where, said.get("consumeTimestamp"), client.started_at)
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
    """All kinds at once; a call that fails is its own queue's error. `until`: this moment; `now` is the reading's."""
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
