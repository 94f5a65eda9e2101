"""What alert rules look at and no other family tells: their own columns, so that Prometheus sees what rules see."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from consumers.alerts.measured import Column
from consumers.alerts.measures.blocked import blocked
from consumers.alerts.measures.clusters import ClusterScan, name_server
from consumers.alerts.measures.columns import drain
from consumers.alerts.measures.expiry import expiry
from consumers.alerts.measures.explained import Explainer
from consumers.alerts.measures.ownership import doubly_owned, unowned
from consumers.alerts.measures.scan import GroupFacts, GroupScan
from consumers.alerts.measures.unsettled import unsettled
from consumers.alerts.measures.volumes import dlq_inflow
from consumers.alerts.subjects import Subject
from consumers.groups.gauges import GroupGauges
from consumers.groups.unknown_words import UnknownWord
from consumers.vocabulary.groups import BROADCASTING, PULLING
from consumers.vocabulary.rules import RuleCode


class Told(NamedTuple):
    """`untold`: the word for a value that is not known, unless `is_told` of the group: then another word says it."""

    column: Callable[[GroupScan], Column]
    words: str
    untold: UnknownWord
    is_told: Callable[[GroupGauges], bool]


def _lag_untold(group: GroupGauges) -> bool:
    return group.lag_messages is None


def _time_lag_untold(group: GroupGauges) -> bool:
    return group.lag_messages is None or group.time_lag_seconds is None


def _members_untold(group: GroupGauges) -> bool:
    return group.members is None


def _judgement_untold(group: GroupGauges) -> bool:
    return not group.is_fresh


MEASURES = {
    "expires_in_seconds": Told(
        expiry, "How soon brokers may delete the oldest message that the group has not consumed.",
        UnknownWord.EXPIRY_UNTOLD, _time_lag_untold,
    ),
    "drain_seconds": Told(
        drain, "Until the group has caught up, at its rates; 0 where nothing waits.",
        UnknownWord.DRAIN_UNTOLD, lambda group: _judgement_untold(group) or _lag_untold(group),
    ),
    "dlq_inflow_messages": Told(
        dlq_inflow, "Messages into the group's dead-letter topic over the last five minutes that were judged.",
        UnknownWord.DLQ_INFLOW_UNTOLD, _judgement_untold,
    ),
    "unsettled_seconds": Told(
        unsettled, "How long members have been changing without coming to rest; 0 where they have.",
        UnknownWord.UNSETTLED_UNTOLD, lambda group: _judgement_untold(group) or _members_untold(group),
    ),
    "unowned_queues": Told(
        unowned, "Queues of topics that members subscribe to, held by none of them.",
        UnknownWord.OWNERS_UNTOLD, _members_untold,
    ),
    "doubly_owned_queues": Told(
        doubly_owned, "Queues that two members hold.",
        UnknownWord.OWNERS_UNTOLD, _members_untold,
    ),
    "blocked_seconds": Told(
        blocked, "How long the oldest message that a member holds has not been finished.",
        UnknownWord.HELD_MESSAGES_UNTOLD, _members_untold,
    ),
}  # fmt: skip

Values = Mapping[str, Sequence[float | None]]


def measured(explainer: Explainer, groups: Sequence[GroupGauges]) -> tuple[Values, frozenset[int]]:
    """By name of MEASURES, a value of each group in the order of `groups`; and the ids of those that a rollout changes.
    Some ten queries, however many there are."""
    # The gauges have all that these columns look at; whatever else one looked at would be an AttributeError.
    rows = cast("Sequence[GroupFacts]", groups)
    scan = GroupScan(explainer.overlay, explainer, rows, ())
    columns = {name: measure.column(scan) for name, measure in MEASURES.items()}
    # Rules leave this measure alone for nothing else.
    is_spared = columns["unsettled_seconds"].spared
    rollouts = frozenset(group.id for place, group in enumerate(groups) if is_spared(place) is not None)
    return {name: cast("Sequence[float | None]", column.values) for name, column in columns.items()}, rollouts


def name_servers_told(explainer: Explainer, names: Container[str]) -> dict[str, float | None]:
    """How many seconds ago, by the cluster's name; null where nobody asks its name servers. Two queries or a few."""
    scan = ClusterScan(explainer)
    found = zip(scan.subjects, name_server(scan).values, strict=True)
    told = cast("Iterable[tuple[Subject, float | None]]", found)
    return {subject.cluster: seconds for subject, seconds in told if subject.cluster in names}


def untold(values: Values, place: int, group: GroupGauges) -> Iterator[UnknownWord]:
    """Why measures of the group at `place` are not known, where no other word says it."""
    if group.unread_by is None:
        for name, measure in MEASURES.items():
            if values[name][place] is None and not measure.is_told(group):
                yield measure.untold


def spared(group: GroupGauges, rollouts: Container[int]) -> Iterator[str]:
    """Why rules leave some measures of the group alone. `rollouts`: as `measured` gives them."""
    if group.consume_enable is False:
        yield "paused"
    if (group.is_fresh or group.is_stale) and group.judged_rule == RuleCode.OFFLINE_BY_HABIT:
        yield "offline_by_habit"
    if group.consume_type == PULLING:
        yield "pulling"
    if group.message_model == BROADCASTING:
        yield "broadcasting"
    if group.id in rollouts:
        yield "rollout"
