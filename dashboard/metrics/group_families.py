"""The gauges of groups."""

from collections.abc import Callable, Iterator, Sequence

from consumers.selectors.groups.gauges import GroupGauges

from .exposition import Family

GROUP = ("cluster", "group")
NUMBERS: dict[str, str] = {
    "lag_messages": "Messages that the group has not consumed, of its own topics and its retry topic.",
    "lag_messages_at_least": "The lag of the queues that are known; equal to the lag where all are.",
    "members": "Members, where every broker said who they are.",
    "dlq_messages": "Messages in the group's dead-letter topic.",
    "dlq_day_messages": "Messages that came into the group's dead-letter topic in 24 hours.",
    "retry_share": "Redeliveries of failed messages per message consumed, over the last hour.",
    "expired_messages": "Messages that were deleted by their broker before the group consumed them.",
    "never_committed_queues": "Queues of the group's topics on which it never committed an offset.",
}

Samples = Iterator[tuple[Sequence[str], float]]


def group_families(groups: Sequence[GroupGauges]) -> Iterator[Family]:
    for name, words in NUMBERS.items():
        yield Family(f"consumerscope_group_{name}", words, GROUP, _known(groups, name))
    yield Family(
        "consumerscope_group_time_lag_seconds",
        "How long the first message that is not consumed has waited; kind: exact, interpolated or at_least.",
        (*GROUP, "kind"),
        _each(groups, lambda group: (group.time_lag_kind, group.time_lag_seconds)),
    )
    yield Family(
        "consumerscope_group_state", "1 for the state of the group.", (*GROUP, "state"), _each(groups, _state_of)
    )


def unknown_samples(groups: Sequence[GroupGauges]) -> Samples:
    for group in groups:
        for word in group.unknown:
            yield (group.cluster, group.group, word), 1


def _state_of(group: GroupGauges) -> tuple[str, float]:
    return group.state, 1


def _known(groups: Sequence[GroupGauges], name: str) -> Samples:
    for group in groups:
        number = getattr(group, name)
        if number is not None:
            yield (group.cluster, group.group), number


def _each(groups: Sequence[GroupGauges], third: Callable[[GroupGauges], tuple[str, float | None]]) -> Samples:
    for group in groups:
        label, number = third(group)
        if number is not None:
            yield (group.cluster, group.group, label), number
