"""What brokers count of topics and groups themselves, asked once a minute under a budget: memory of the broker only.

The keys are the same in each turn, in the order of their names: of what is beyond the budget nothing is known.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from consumers.models import BrokerStatistic, Cluster
from consumers.polling.brokers.joined import Pair
from consumers.polling.memory import ClusterMemory
from consumers.polling.reading import OffsetsReading
from consumers.polling.record.keyed_rows import upsert_rows
from consumers.polling.registration import Wire
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.config_bodies import MinuteStatistic
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX, is_system_group
from consumers.rocketmq.wire.codes import RocketMQError

# Names of RocketMQ 5.4.0, BrokerStatsManager.
TOPIC_PUT_SIZE, GROUP_GET_SIZE, SNDBCK_PUT_NUMS = "TOPIC_PUT_SIZE", "GROUP_GET_SIZE", "SNDBCK_PUT_NUMS"
KEY = ("cluster", "broker", "topic", "group")
# Rows that were not asked for again are of no use to anybody.
KEPT = timedelta(minutes=10)


@dataclass(frozen=True)
class StatisticsLimits:
    """`calls` in one turn; 0: nothing is asked."""

    calls: int = 0
    seconds: float = 60.0


class Place(NamedTuple):
    """`group` is "" where the topic itself is meant."""

    broker: str
    topic: str
    group: str

    @property
    def statistics(self) -> tuple[str, ...]:
        return (GROUP_GET_SIZE, SNDBCK_PUT_NUMS) if self.group else (TOPIC_PUT_SIZE,)

    @property
    def key(self) -> str:
        return f"{self.topic}@{self.group}" if self.group else self.topic


class StatisticsPoller:
    """One per cluster and process."""

    def __init__(self, cluster: Cluster, limits: StatisticsLimits) -> None:
        self._cluster = cluster
        self._limits = limits
        self._asked_at: datetime | None = None

    def poll(
        self, wire: Wire, offsets: OffsetsReading, memory: ClusterMemory, now: datetime, deadline_seconds: float
    ) -> None:
        """Asks masters only, where the turn is due, and stores the answers."""
        is_early = self._asked_at is not None and now - self._asked_at < timedelta(seconds=self._limits.seconds)
        if not self._limits.calls or is_early:
            return
        self._asked_at = now
        admins = {
            one.name: BrokerAdmin(wire.pool, one.answered_by)
            for one in offsets.brokers
            if one.read and one.answered_by and one.read_from is None
        }
        asked = planned({name: memory.committed.get(name, frozenset()) for name in admins}, self._limits.calls)
        rows = wire.run(_ask(admins, asked, deadline_seconds))
        own: dict[str, Any] = {"cluster": self._cluster.pk, "asked_at": now}
        upsert_rows(BrokerStatistic, KEY, [{**row, **own} for row in rows])
        BrokerStatistic.objects.filter(cluster=self._cluster, asked_at__lt=now - KEPT).delete()


def planned(committed: Mapping[str, Iterable[Pair]], calls: int) -> list[Place]:
    """`committed`: groups and topics with an offset, by broker. Topics come before groups: a topic costs one call, a
    group's part of it two."""
    found = {
        Place(broker, topic, group)
        for broker, pairs in committed.items()
        for pair_group, topic in pairs
        if not topic.startswith((RETRY_PREFIX, DLQ_PREFIX)) and not is_system_group(pair_group)
        for group in ("", pair_group)
    }
    chosen: list[Place] = []
    for place in sorted(found, key=lambda one: (one.group, one.topic, one.broker)):
        calls -= len(place.statistics)
        if calls < 0:
            break
        chosen.append(place)
    return chosen


async def _ask(
    admins: Mapping[str, BrokerAdmin], asked: Sequence[Place], deadline_seconds: float
) -> list[dict[str, Any]]:
    of_brokers = [(admin, [one for one in asked if one.broker == name]) for name, admin in admins.items()]
    found = await asyncio.gather(*(_of_broker(admin, places, deadline_seconds) for admin, places in of_brokers))
    return [row for rows in found for row in rows]


async def _of_broker(admin: BrokerAdmin, places: Sequence[Place], deadline_seconds: float) -> list[dict[str, Any]]:
    """A broker that refuses the first place is not asked for others: a user without the right has it for none."""
    if not places:
        return []
    first = await _row(admin, places[0], deadline_seconds)
    if first["error"] is not None:
        return [first]
    return [first, *await asyncio.gather(*(_row(admin, one, deadline_seconds) for one in places[1:]))]


async def _row(admin: BrokerAdmin, place: Place, deadline_seconds: float) -> dict[str, Any]:
    answers: dict[str, MinuteStatistic | None] = dict.fromkeys((TOPIC_PUT_SIZE, GROUP_GET_SIZE, SNDBCK_PUT_NUMS))
    error = None
    try:
        for name in place.statistics:
            answers[name] = await admin.statistic(name, place.key, deadline_seconds=deadline_seconds)
    except RocketMQError as failure:
        error = str(failure)
    size, back = answers[GROUP_GET_SIZE if place.group else TOPIC_PUT_SIZE], answers[SNDBCK_PUT_NUMS]
    return {
        **place._asdict(),
        "bytes_per_second": None if size is None else size.per_second,
        "sent_back_messages": None if back is None else back.total,
        "error": error,
    }
