"""The gauges of groups."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

from consumers.groups.gauges import GroupGauges, causes
from consumers.groups.overlay import Overlay
from consumers.groups.unknown_words import UnknownWord
from consumers.models import HealthLevel
from consumers.retries.volumes import MinuteVolumes

from .exposition import Family, Labels, label_text
from .measured import MEASURES, Values, spared, untold

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

HEALTH = "0 ok, 1 unknown, 2 warning, 3 critical: the worst of state, ownership, retries, dead letters and rebalances."
# Ascending, so that alerts compare: max() is the worst.
OF_HEALTH = {level: rank for rank, level in enumerate(reversed(HealthLevel))}
SPARED = "1 for each reason why alert rules leave some measures of the group alone."

Samples = Iterator[tuple[Labels, float]]
Number = Callable[[GroupGauges], float | None]


@dataclass(frozen=True)
class Happened:
    """What is read of all groups at once, by group id: episodes of rebalances in an hour and a day, and the volumes of
    the newest minute that was judged; null where no minute of late was. `measured`: in the order of the groups.
    `rollouts`: ids of groups."""

    measured: Values
    rollouts: frozenset[int] = frozenset()
    episodes: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    volumes: Mapping[int, MinuteVolumes] | None = None

    def volumes_of(self, group: GroupGauges) -> MinuteVolumes | None:
        return self.volumes.get(group.id) if group.is_judged and self.volumes is not None else None


def texts_of(groups: Iterable[GroupGauges]) -> list[str]:
    """Each group's labels, which all of its series share."""
    return [label_text(GROUP, (group.cluster, group.name)) for group in groups]


def group_families(
    groups: Sequence[GroupGauges], texts: Sequence[str], happened: Happened, now: datetime
) -> Iterator[Family]:
    for name, words in NUMBERS.items():
        yield _family(name, words, texts, map(attrgetter(name), groups))
    for name, measure in MEASURES.items():
        yield _family(name, measure.words, texts, happened.measured[name])
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
        "How old the state is, of a group whose evaluation is late.",
        texts,
        map(_stale(now), groups),
    )
    yield _family("health", HEALTH, texts, (float(OF_HEALTH[group.health]) for group in groups))
    for place, span in enumerate(("hour", "day")):
        words = f"Rebalances in the last {span}; those in a row, as of a rollout, count once."
        yield _family(f"rebalances_{span}", words, texts, map(_episodes(happened, place), groups))
    yield _family(
        "last_rebalance_age_seconds", "How long ago the group was last seen to rebalance.", texts,
        map(_rebalance_age(now), groups),
    )  # fmt: skip
    yield Family(
        "consumerscope_group_minute_messages",
        "Messages of the newest minute judged; way: into_retry, out_of_retry, into_dlq or consumed.",
        (*GROUP, "way"),
        _ways(groups, texts, happened),
    )
    yield Family("consumerscope_group_spared", SPARED, (*GROUP, "reason"), _spared(groups, texts, happened))


def unknown_samples(
    overlay: Overlay, groups: Sequence[GroupGauges], texts: Sequence[str], happened: Happened
) -> Samples:
    for place, (text, group) in enumerate(zip(texts, groups, strict=True)):
        words = [*causes(overlay, group), *untold(happened.measured, place, group)]
        if group.is_judged and None in (happened.volumes_of(group) or (None,)):
            words.append(UnknownWord.VOLUMES_UNTOLD)
        for word in dict.fromkeys(words):
            yield f'{text},reason="{word.value}"', 1


def _family(name: str, words: str, texts: Iterable[str], numbers: Iterable[float | None]) -> Family:
    samples = ((text, number) for text, number in zip(texts, numbers, strict=True) if number is not None)
    return Family(f"consumerscope_group_{name}", words, GROUP, samples)


def _episodes(happened: Happened, place: int) -> Number:
    """None was seen: only of a group that is judged and whose members are known is that said."""

    def count(group: GroupGauges) -> float | None:
        is_watched = group.members is not None and group.is_judged
        return happened.episodes.get(group.id, (0, 0))[place] if is_watched else None

    return count


def _stale(now: datetime) -> Number:
    def age(group: GroupGauges) -> float | None:
        at = group.judged_at
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


def _spared(groups: Sequence[GroupGauges], texts: Sequence[str], happened: Happened) -> Samples:
    for text, group in zip(texts, groups, strict=True):
        for reason in spared(group, happened.rollouts):
            yield f'{text},reason="{reason}"', 1
