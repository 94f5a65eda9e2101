"""The effect of a rebalance on queues, per topic and over all topics, and resets at the same time."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy

from consumers.models import Rebalance, RebalanceTopic
from consumers.queries.reset_marks import went_on_since
from consumers.rebalances.rows import Cost, Move, words_of
from consumers.vocabulary.causes import RebalanceCause

# The effect of a rebalance on queues, per topic and over all topics. A sum is null where one of its parts is unknown.
SUMS = RebalanceTopic.NUMBERS

NO_TOPIC = gettext_lazy("no topic of the group was known then")

NOT_TOLD = gettext_lazy("the polls around it do not contain the answer")


def topic_reasons(topic: RebalanceTopic) -> dict[str, str]:
    """A reason for each null."""
    return {name: topic.unknown.get(name) or str(NOT_TOLD) for name in SUMS if getattr(topic, name) is None}


def cost_of_topic(topic: RebalanceTopic) -> Cost:
    return Cost(**{name: getattr(topic, name) for name in SUMS}, unknown=topic_reasons(topic))


def cost_of_all(topics: Sequence[RebalanceTopic]) -> Cost:
    """The sums; null where one topic's number is null, with that topic's reason. Peaks of topics need not coincide."""
    values: dict[str, Any] = dict.fromkeys(SUMS)
    if not topics:
        return Cost(**values, unknown=dict.fromkeys(SUMS, str(NO_TOPIC)))
    reasons: dict[str, str] = {}
    for name in SUMS:
        lacking = [topic for topic in topics if getattr(topic, name) is None]
        if not lacking:
            values[name] = sum(getattr(topic, name) for topic in topics)
            continue
        reason = lacking[0].unknown.get(name) or str(NOT_TOLD)
        reasons[name] = reason if len(topics) == 1 else f"{lacking[0].topic}: {reason}"
    return Cost(**values, unknown=reasons)


OF_MOVE = tuple(
    [f"{kind}_seconds{bound}" for kind in ("unowned", "doubly_owned") for bound in ("", "_low", "_high")]
    + ["replayed_messages_low", "replayed_messages"]
)


def moves_of(topic: RebalanceTopic) -> list[Move]:
    """In order of broker and queue id."""
    moves = [_move(topic.topic, move) for move in topic.moves]
    return sorted(moves, key=lambda move: (move.broker, move.queue_id))


def _move(topic: str, move: dict[str, Any]) -> Move:
    own = move.get("unknown") or {}
    values = {name: move.get(name) for name in OF_MOVE}
    ends: dict[str, Any] = {name: None if move.get(name) is None else tuple(move[name]) for name in ("before", "after")}
    reasons = {name: own.get(name) or str(NOT_TOLD) for name, value in (values | ends).items() if value is None}
    return Move(topic, move["broker"], move["queue_id"], **ends, **values, unknown=reasons)


# Resets from here at the start of a rebalance that has no other known cause. Computed when rows are read; not stored.
# A member that follows a moved offset drops the queue and takes it again (5.4.0, DefaultMQPushConsumerImpl).
COLUMNS = ("group_id", "started_at", "finished_at", "applied_by_name", "by_name", "reason")


def name_resets(rows: Collection[Rebalance]) -> None:
    """Adds `reset` to the evidence of rebalances without a known cause, unsaved. One query, none without such a
    rebalance.
    """
    open_ones = [row for row in rows if words_of(row.cause) == (str(RebalanceCause.UNKNOWN),)]
    if not open_ones:
        return
    resets = _resets({row.group_id for row in open_ones}, min(_began(row) for row in open_ones))
    for row in open_ones:
        meanwhile = [words for group, since, until, words in resets if _meets(row, group, since, until)]
        if meanwhile:
            row.evidence = [
                {**found, "reset": meanwhile[0]} for found in row.evidence or [{"cause": RebalanceCause.UNKNOWN.value}]
            ]


def _resets(groups: set[int], since: datetime) -> list[tuple[int, datetime, datetime | None, str]]:
    """The newest first."""
    rows = went_on_since(since).filter(group__in=groups).order_by("-started_at")
    return [
        (group, begun, ended, f"{applied_by or by}, {begun:%H:%M:%S} UTC ({reason})")
        for group, begun, ended, applied_by, by, reason in rows.values_list(*COLUMNS)
    ]


def _began(row: Rebalance) -> datetime:
    return row.started_after or row.started_before


def _meets(row: Rebalance, group: int, since: datetime, until: datetime | None) -> bool:
    return row.group_id == group and since <= row.started_before and (until is None or until >= _began(row))
