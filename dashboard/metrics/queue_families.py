"""Metric families of single queues: the greatest lags of all groups, and all queues of groups that are named."""

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

from django.conf import settings

from consumers.groups.gauges import GroupGauges
from consumers.groups.overlay import Overlay
from consumers.overview.queue_series import QueueNumbers, queue_lags, queue_numbers
from consumers.rocketmq.names import DLQ_PREFIX
from dashboard.metrics.exposition import Bounds, Family, Labels

LABELS = ("cluster", "group", "topic", "broker", "queue_id")
LAG = "consumerscope_queue_lag_messages"
LAG_WORDS = "Messages of the queue that the group has not consumed; of groups that are not named, the most first."

# Families of named groups alone: by name, what each says and where it stands in QueueNumbers.
NAMED: dict[str, tuple[str, Callable[[QueueNumbers], float | None]]] = {
    "consumer_offset": ("Consumer offset of the group on the queue.", lambda one: one.consumer_offset),
    "broker_offset": ("Broker offset of the queue.", lambda one: one.broker_offset),
    "time_lag_seconds": ("How long the first message not consumed has waited.", lambda one: one.time_lag_seconds),
}

Samples = Iterator[tuple[Labels, float]]
Shown = dict[int, tuple[str, str]]


def queue_families(
    bounds: Bounds, overlay: Overlay, groups: Sequence[GroupGauges], cluster: str | None
) -> Iterator[Family]:
    """None where neither METRICS_QUEUE_SERIES nor METRICS_QUEUE_GROUPS asks for any; three queries at the most."""
    shown = {group.id: (group.cluster, group.name) for group in groups if group.lag_messages_at_least is not None}
    wanted = re.compile("|".join(map(translate, settings.METRICS_QUEUE_GROUPS)) or r"(?!)")
    named = {group for group, (_, name) in shown.items() if wanted.match(name)}
    judged = {group.id for group in groups if group.is_fresh}
    numbers = [one for one in queue_numbers(overlay, named, judged) if not _is_dead_letters(shown, one)]
    most = settings.METRICS_QUEUE_GROUP_SERIES
    if settings.METRICS_QUEUE_SERIES or settings.METRICS_QUEUE_GROUPS:
        lags = bounds.kept(LAG, _numbers(shown, numbers, lambda one: one.lag_messages), most)
        if settings.METRICS_QUEUE_SERIES:
            lags += bounds.kept(LAG, _greatest(shown, overlay, cluster, named), settings.METRICS_QUEUE_SERIES)
        yield Family(LAG, LAG_WORDS, LABELS, lags)
    if settings.METRICS_QUEUE_GROUPS:
        for name, (words, number) in NAMED.items():
            family = f"consumerscope_queue_{name}"
            yield Family(family, words, LABELS, bounds.kept(family, _numbers(shown, numbers, number), most))


def _numbers(shown: Shown, numbers: Sequence[QueueNumbers], number: Callable[[QueueNumbers], float | None]) -> Samples:
    for one in numbers:
        value = number(one)
        if value is not None:
            yield (*shown[one.group_id], one.topic, one.broker, str(one.queue_id)), value


def _greatest(shown: Shown, overlay: Overlay, cluster: str | None, named: set[int]) -> Samples:
    for lag in queue_lags(overlay, cluster, besides=named):
        if lag.group_id in shown and lag.topic != DLQ_PREFIX + shown[lag.group_id][1]:
            yield (*shown[lag.group_id], lag.topic, lag.broker, str(lag.queue_id)), lag.lag_messages


def _is_dead_letters(shown: Shown, one: QueueNumbers) -> bool:
    return one.topic == DLQ_PREFIX + shown[one.group_id][1]
