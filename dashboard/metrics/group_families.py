"""The gauges of groups."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

from consumers.selectors.groups.gauges import GroupGauges
from consumers.selectors.retries.minute_volumes import MinuteVolumes
from consumers.selectors.unknown_words import UnknownWord

from .exposition import Family, Labels

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
}

Samples = Iterator[tuple[Labels, float]]
Number = Callable[[GroupGauges], float | None]


@dataclass(frozen=True)
class Happened:
    """What is read of all groups at once, by group id: episodes of rebalances in an hour and a day, and the volumes of
    the newest minute that was judged; null where no minute of late was."""

    episodes: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    volumes: Mapping[int, MinuteVolumes] | None = None


def group_families(groups: Sequence[GroupGauges], happened: Happened, now: datetime) -> Iterator[Family]:
    for name, words in NUMBERS.items():
        yield _family(groups, name, words, attrgetter(name))
    yield Family(
        "consumerscope_group_time_lag_seconds",
        "How long the first message that is not consumed has waited; kind: exact, interpolated or at_least.",
        (*GROUP, "kind"),
        _each(groups, lambda group: (group.time_lag_kind, group.time_lag_seconds)),
    )
    yield Family(
        "consumerscope_group_state", "1 for the state of the group.", (*GROUP, "state"), _each(groups, _state_of)
    )
    for place, span in enumerate(("hour", "day")):
        words = f"Rebalances in the last {span}; those in a row, as of a rollout, count once."
        yield _family(groups, f"rebalances_{span}", words, _episodes(happened, place))
    yield _family(
        groups, "last_rebalance_age_seconds", "How long ago the group was last seen to rebalance.",
        lambda group: None if group.last_rebalance_at is None else (now - group.last_rebalance_at).total_seconds(),
    )  # fmt: skip
    yield Family(
        "consumerscope_group_minute_messages",
        "Messages of the newest minute judged; way: into_retry, out_of_retry, into_dlq or consumed.",
        (*GROUP, "way"),
        _ways(groups, happened),
    )


def unknown_samples(groups: Sequence[GroupGauges], happened: Happened) -> Samples:
    for group in groups:
        for word in group.unknown:
            yield (group.cluster, group.group, word), 1
        if group.is_judged and None in (_volumes(group, happened) or (None,)):
            yield (group.cluster, group.group, UnknownWord.VOLUMES_UNTOLD), 1


def _family(groups: Sequence[GroupGauges], name: str, words: str, number: Number) -> Family:
    return Family(f"consumerscope_group_{name}", words, GROUP, _known(groups, number))


def _known(groups: Sequence[GroupGauges], number: Number) -> Samples:
    for group in groups:
        value = number(group)
        if value is not None:
            yield (group.cluster, group.group), value


def _episodes(happened: Happened, place: int) -> Number:
    """None was seen: only of a group that is judged and whose members are known is that said."""

    def count(group: GroupGauges) -> float | None:
        is_watched = group.members is not None and group.is_judged
        return happened.episodes.get(group.id, (0, 0))[place] if is_watched else None

    return count


def _ways(groups: Sequence[GroupGauges], happened: Happened) -> Samples:
    for group in groups:
        for way, number in zip(MinuteVolumes._fields, _volumes(group, happened) or (), strict=False):
            if number is not None:
                yield (group.cluster, group.group, way), number


def _volumes(group: GroupGauges, happened: Happened) -> MinuteVolumes | None:
    return happened.volumes.get(group.id) if group.is_judged and happened.volumes is not None else None


def _state_of(group: GroupGauges) -> tuple[str, float]:
    return group.state, 1


def _each(groups: Sequence[GroupGauges], third: Callable[[GroupGauges], tuple[str, float | None]]) -> Samples:
    for group in groups:
        label, number = third(group)
        if number is not None:
            yield (group.cluster, group.group, label), number
