"""What a rebalance did to queues, per topic and over all topics. A part of a sum is not the sum."""

from collections.abc import Sequence
from typing import Any

from consumers.models import RebalanceTopic

from .rows import Cost, Move

SUMS = RebalanceTopic.NUMBERS
NO_TOPIC = "no topic of the group was known then"
NOT_TOLD = "the readings around it do not tell"


def topic_reasons(topic: RebalanceTopic) -> dict[str, str]:
    """A reason for each null."""
    return {name: topic.unknown.get(name) or NOT_TOLD for name in SUMS if getattr(topic, name) is None}


def cost_of_topic(topic: RebalanceTopic) -> Cost:
    return Cost(**{name: getattr(topic, name) for name in SUMS}, unknown=topic_reasons(topic))


def cost_of_all(topics: Sequence[RebalanceTopic]) -> Cost:
    """The sums; null where one topic's number is, with that topic's reason. Peaks of topics need not coincide."""
    values: dict[str, Any] = dict.fromkeys(SUMS)
    if not topics:
        return Cost(**values, unknown=dict.fromkeys(SUMS, NO_TOPIC))
    reasons: dict[str, str] = {}
    for name in SUMS:
        lacking = [topic for topic in topics if getattr(topic, name) is None]
        if not lacking:
            values[name] = sum(getattr(topic, name) for topic in topics)
            continue
        reason = lacking[0].unknown.get(name) or NOT_TOLD
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
    reasons = {name: own.get(name) or NOT_TOLD for name, value in (values | ends).items() if value is None}
    return Move(topic, move["broker"], move["queue_id"], **ends, **values, unknown=reasons)
