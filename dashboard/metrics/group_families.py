"""The gauges of groups and of single queues."""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import translate
from itertools import chain
from operator import attrgetter
from typing import cast

from django.conf import settings

from consumers.alerts.measured import Column, Subject
from consumers.alerts.measures.clusters import ClusterScan, name_server
from consumers.alerts.measures.registry import SPECS
from consumers.alerts.measures.scan import Explainer, GroupScan, GroupValues
from consumers.groups.gauges import GroupGauges, causes, state_time
from consumers.groups.overlay import Overlay
from consumers.groups.shown import UnknownWord
from consumers.models import HealthLevel, SubjectKind
from consumers.overview.queue_series import QueueNumbers, queue_lags, queue_numbers
from consumers.retries.volumes import MinuteVolumes
from consumers.rocketmq.names import DLQ_PREFIX
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from consumers.vocabulary.states import BROADCASTING, POPPING, PULLING, RuleCode
from dashboard.metrics.exposition import Bounds, Family, Labels, label_text

# What alert rules look at and no other family tells: their own columns, so that Prometheus sees what rules see.

# The gauges of measures: each with its column.
METRICS = [(spec.metric, spec.reads[SubjectKind.GROUP]) for spec in SPECS.values() if spec.metric]


@dataclass(frozen=True)
class MeasureGauges:
    """`values`: by name of METRICS, one of each group in order; `bounds` by their names of bounds, equal to the values
    where these are known. `absent`: names and places of those that do not exist, so that nothing is unknown.
    `rollouts`: ids of groups that a rollout changes."""

    values: Mapping[str, Sequence[float | None]]
    bounds: Mapping[str, Sequence[float | None]]
    absent: frozenset[tuple[str, int]]
    rollouts: frozenset[int]


def measured(explainer: Explainer, groups: Sequence[GroupGauges]) -> MeasureGauges:
    """Some ten queries, however many groups there are."""
    # The gauges have all that these columns look at; whatever else one looked at would be an AttributeError.
    rows = cast("Sequence[GroupValues]", groups)
    scan = GroupScan(explainer.overlay, explainer, rows, ())
    columns = {metric.name: column(scan) for metric, column in METRICS}
    # Rules leave this measure alone for nothing else.
    is_suppressed = columns["unsettled_seconds"].suppressed
    rollouts = frozenset(group.id for place, group in enumerate(groups) if is_suppressed(place) is not None)
    values = {name: cast("Sequence[float | None]", column.values) for name, column in columns.items()}
    absent = frozenset(
        (name, place)
        for name, column in columns.items()
        for place, value in enumerate(values[name])
        if value is None and column.absent(place) is not None
    )
    bounds = {metric.name_of_bound: values[metric.name] for metric, _ in METRICS if metric.bound}
    exact = {
        metric.name: _exact(values[metric.name], columns[metric.name]) if metric.bound else values[metric.name]
        for metric, _ in METRICS
    }
    return MeasureGauges(exact, bounds, absent, rollouts)


def _exact(values: Sequence[float | None], column: Column) -> list[float | None]:
    return [None if column.is_bound(place) else value for place, value in enumerate(values)]


def ages_of_name_servers(explainer: Explainer, names: Container[str]) -> dict[str, float | None]:
    """How many seconds ago, by the cluster's name; null where nobody asks its name servers. Two queries or a few."""
    scan = ClusterScan(explainer)
    found = zip(scan.subjects, name_server(scan).values, strict=True)
    ages = cast("Iterable[tuple[Subject, float | None]]", found)
    return {subject.cluster: seconds for subject, seconds in ages if subject.cluster in names}


def finding_samples(
    explainer: Explainer, groups: Sequence[GroupGauges], clusters: Mapping[int, str]
) -> Iterator[tuple[Labels, float]]:
    """How many there are of each code, of `groups` and of brokers and files of `clusters`, the latter without a group.
    A group or cluster whose checks are late has the code `not_checked`. Three queries."""
    found, named = explainer.findings, {group.id: (group.cluster, group.name) for group in groups}
    counts: Counter[tuple[str, str | None, str, str]] = Counter()
    for group, rows in found.by_group.items():
        if group in named:
            counts.update((*named[group], one.code, one.severity) for one in rows)
    for row in chain.from_iterable((*found.by_broker.values(), *found.by_cluster.values())):
        if row.cluster_id in clusters:
            counts[clusters[row.cluster_id], None, row.code, row.severity] += 1
    late = [group for group in groups if group.id not in found.checked]
    unchecked: list[tuple[str, str | None]] = [(group.cluster, group.name) for group in late]
    unchecked += [(name, None) for pk, name in clusters.items() if pk not in found.checked_clusters]
    counts.update((*one, FindingCode.NOT_CHECKED, FindingSeverity.UNKNOWN) for one in unchecked)
    yield from sorted(counts.items(), key=lambda sample: tuple(map(str, sample[0])))


def unknown_words(gauges: MeasureGauges, place: int, group: GroupGauges) -> Iterator[UnknownWord]:
    """Why measures of the group at `place` are not known, where no other word says it."""
    if group.unread_by is None:
        for metric, _ in METRICS:
            is_unknown = gauges.values[metric.name][place] is None and (metric.name, place) not in gauges.absent
            if is_unknown and not any(_is_unknown(group, other) for other in metric.others):
                yield metric.unknown_word


def _is_unknown(group: GroupGauges, name: str) -> bool:
    return getattr(group, name) is None or getattr(group, name) is False


def suppressed(group: GroupGauges, rollouts: Container[int]) -> Iterator[str]:
    """Why rules leave some measures of the group alone. `rollouts`: as `measured` gives them."""
    if group.consume_enable is False:
        yield "paused"
    if (group.is_fresh or group.is_stale) and group.judged_rule == RuleCode.OFFLINE_BY_HABIT:
        yield "offline_by_habit"
    if group.consume_type == PULLING:
        yield "pulling"
    if group.consume_type == POPPING:
        yield "popping"
    if group.message_model == BROADCASTING:
        yield "broadcasting"
    if group.id in rollouts:
        yield "rollout"


GROUP = ("cluster", "group")
NUMBERS: dict[str, str] = {
    "lag_messages": "Messages that the group has not consumed, of its own topics and its retry topic.",
    "lag_messages_at_least": "The lag of the queues that are known; equal to the lag where all are.",
    "members": "Members, where every broker said who they are.",
    "consume_rate": "Messages consumed per second.",
    "produce_rate": "Messages produced per second into the group's own topics.",
    "dlq_messages": "Messages in the group's dead-letter topic.",
    "dlq_day_messages": "Messages that came into the group's dead-letter topic in 24 hours.",
    "retry_share": "Redeliveries of failed messages per message consumed, over the last hour.",
    "expired_messages": "Messages that were deleted by their broker before the group consumed them.",
    "never_committed_queues": "Queues of the group's topics on which it never committed an offset.",
    "lost_queues": "Queues whose committed offset was read before, and is gone from the broker.",
}

BOUNDS = {
    "at_least": "At least so much, also while the value is not known, which is equal to it elsewhere.",
    "at_most": "At most so much, also while the value is not known, which is equal to it elsewhere.",
}
DAY = "Rebalances in the last day; those in a row, as of a rollout, count once."
HEALTH = "0 ok, 1 unknown, 2 warning, 3 critical: the worst of state, ownership, retries, dead letters and rebalances."
# Ascending, so that alerts compare: max() is the worst.
OF_HEALTH = {level: rank for rank, level in enumerate(reversed(HealthLevel))}
SUPPRESSED = "1 for each reason why alert rules leave some measures of the group alone."

Samples = Iterator[tuple[Labels, float]]
Number = Callable[[GroupGauges], float | None]


@dataclass(frozen=True)
class Happened:
    """What is read of all groups at once, by group id: episodes of rebalances in a day, and the volumes of the newest
    minute that was judged; null where no minute of late was. `partly_watched`: groups that were not watched for a part
    of the day. `measured`: in the order of the groups."""

    measured: MeasureGauges
    episodes: Mapping[int, int] = field(default_factory=dict)
    partly_watched: Container[int] = ()
    volumes: Mapping[int, MinuteVolumes] | None = None

    def volumes_of(self, group: GroupGauges) -> MinuteVolumes | None:
        return self.volumes.get(group.id) if group.is_judged and self.volumes is not None else None

    def least_episodes(self, group: GroupGauges) -> float | None:
        """None was seen: only of a group that is judged and whose members are known is that said."""
        is_watched = group.members is not None and group.is_judged
        return self.episodes.get(group.id, 0) if is_watched else None

    def episodes_of(self, group: GroupGauges) -> float | None:
        return None if group.id in self.partly_watched else self.least_episodes(group)


def texts_of(groups: Iterable[GroupGauges]) -> list[str]:
    """Each group's labels, which all of its series share."""
    return [label_text(GROUP, (group.cluster, group.name)) for group in groups]


def group_families(
    groups: Sequence[GroupGauges], texts: Sequence[str], happened: Happened, now: datetime
) -> Iterator[Family]:
    for name, words in NUMBERS.items():
        yield _family(name, words, texts, map(attrgetter(name), groups))
    for metric, _ in METRICS:
        yield _family(metric.name, metric.words, texts, happened.measured.values[metric.name])
        if metric.bound:
            name = metric.name_of_bound
            yield _family(name, f"{BOUNDS[metric.bound]} {metric.words}", texts, happened.measured.bounds[name])
    yield Family(
        "consumerscope_group_time_lag_seconds",
        "How long the first message that is not consumed has waited; kind: exact, interpolated or at_least.",
        (*GROUP, "kind"),
        (
            (f'{text},kind="{group.time_lag_kind.value}"', group.time_lag_seconds)
            for text, group in zip(texts, groups, strict=True)
            if group.time_lag_seconds is not None
        ),
    )
    states = ((f'{text},state="{group.state.value}"', 1) for text, group in zip(texts, groups, strict=True))
    yield Family("consumerscope_group_state", "1 for the state of the group.", (*GROUP, "state"), states)
    yield _family(
        "state_age_seconds",
        "How old the state is, of a group whose evaluation is late or that a broker is not read of.",
        texts,
        map(_stale(now), groups),
    )
    yield _family("health", HEALTH, texts, (float(OF_HEALTH[group.health]) for group in groups))
    yield _family("rebalances_day", DAY, texts, map(happened.episodes_of, groups))
    yield _family("rebalances_day_at_least", f"{BOUNDS['at_least']} {DAY}", texts, map(happened.least_episodes, groups))
    yield _family(
        "last_rebalance_age_seconds", "How long ago the group was last seen to rebalance.", texts,
        map(_rebalance_age(now), groups),
    )  # fmt: skip
    yield Family(
        "consumerscope_group_minute_messages",
        "Messages of the newest evaluated minute; way: into_retry, out_of_retry, into_dlq or consumed.",
        (*GROUP, "way"),
        _ways(groups, texts, happened),
    )
    yield Family("consumerscope_group_excluded", SUPPRESSED, (*GROUP, "reason"), _suppressed(groups, texts, happened))


def unknown_samples(
    overlay: Overlay, groups: Sequence[GroupGauges], texts: Sequence[str], happened: Happened
) -> Samples:
    for place, (text, group) in enumerate(zip(texts, groups, strict=True)):
        words = [*causes(overlay, group), *unknown_words(happened.measured, place, group)]
        if group.is_judged and None in (happened.volumes_of(group) or (None,)):
            words.append(UnknownWord.VOLUMES_UNKNOWN)
        if happened.least_episodes(group) is not None and happened.episodes_of(group) is None:
            words.append(UnknownWord.PARTLY_WATCHED)
        for word in dict.fromkeys(words):
            yield f'{text},reason="{word.value}"', 1


def _family(name: str, words: str, texts: Iterable[str], numbers: Iterable[float | None]) -> Family:
    samples = ((text, number) for text, number in zip(texts, numbers, strict=True) if number is not None)
    return Family(f"consumerscope_group_{name}", words, GROUP, samples)


def _stale(now: datetime) -> Number:
    def age(group: GroupGauges) -> float | None:
        at = state_time(group)
        return (now - at).total_seconds() if group.is_stale and at is not None else None

    return age


def _rebalance_age(now: datetime) -> Number:
    def age(group: GroupGauges) -> float | None:
        at = group.last_rebalance_at
        return None if at is None or not group.is_judged else (now - at).total_seconds()

    return age


def _ways(groups: Sequence[GroupGauges], texts: Sequence[str], happened: Happened) -> Samples:
    for text, group in zip(texts, groups, strict=True):
        for way, number in zip(MinuteVolumes._fields, happened.volumes_of(group) or (), strict=False):
            if number is not None:
                yield f'{text},way="{way}"', number


def _suppressed(groups: Sequence[GroupGauges], texts: Sequence[str], happened: Happened) -> Samples:
    for text, group in zip(texts, groups, strict=True):
        for reason in suppressed(group, happened.measured.rollouts):
            yield f'{text},reason="{reason}"', 1


# Metric families of single queues: the greatest lags of all groups, and all queues of groups that are named.
LABELS = ("cluster", "group", "topic", "broker", "queue_id")
LAG = "consumerscope_queue_lag_messages"
LAG_WORDS = "Messages of the queue that the group has not consumed; of groups that are not named, the most first."

# Families of named groups alone: by name, what each says and where it stands in QueueNumbers.
NAMED: dict[str, tuple[str, Callable[[QueueNumbers], float | None]]] = {
    "consumer_offset": ("Consumer offset of the group on the queue.", lambda one: one.consumer_offset),
    "broker_offset": ("Broker offset of the queue.", lambda one: one.broker_offset),
}
WAIT = "consumerscope_queue_time_lag_seconds"
WAIT_WORDS = "How long the first message not consumed has waited; kind: exact, interpolated or at_least."

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
        yield Family(WAIT, WAIT_WORDS, (*LABELS, "kind"), bounds.kept(WAIT, _waits(shown, numbers), most))


def _numbers(shown: Shown, numbers: Sequence[QueueNumbers], number: Callable[[QueueNumbers], float | None]) -> Samples:
    for one in numbers:
        value = number(one)
        if value is not None:
            yield _labels(shown, one), value


def _waits(shown: Shown, numbers: Sequence[QueueNumbers]) -> Samples:
    for one in numbers:
        if one.time_lag_seconds is not None and one.time_lag_kind is not None:
            yield (*_labels(shown, one), one.time_lag_kind), one.time_lag_seconds


def _labels(shown: Shown, one: QueueNumbers) -> tuple[str, ...]:
    return (*shown[one.group_id], one.topic, one.broker, str(one.queue_id))


def _greatest(shown: Shown, overlay: Overlay, cluster: str | None, named: set[int]) -> Samples:
    for lag in queue_lags(overlay, cluster, besides=named):
        if lag.group_id in shown and lag.topic != DLQ_PREFIX + shown[lag.group_id][1]:
            yield (*shown[lag.group_id], lag.topic, lag.broker, str(lag.queue_id)), lag.lag_messages


def _is_dead_letters(shown: Shown, one: QueueNumbers) -> bool:
    return one.topic == DLQ_PREFIX + shown[one.group_id][1]
