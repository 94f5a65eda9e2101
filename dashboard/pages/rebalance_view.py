"""What the page of one rebalance shows of its members and queues: who came and went, who held what before and after."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.selectors.rebalances.rows import Move, RebalanceDetail, TopicCost
from dashboard.svg.before_after import QueueEnds, before_after, colour_places
from dashboard.wording.numbers import count

MOVES_SHOWN = 40


@dataclass(frozen=True)
class MemberLine:
    """A member with the colour of its queues. Null numbers: of a queue it is not known who held it."""

    client_id: str
    colour: int
    came: bool
    went: bool
    before: int | None
    after: int | None


@dataclass(frozen=True)
class TopicView:
    topic: TopicCost
    picture: SafeString
    moves: Sequence[Move]
    hidden: int
    every_queue: int


def member_lines(detail: RebalanceDetail) -> list[MemberLine]:
    """Those that came and went first, then by id."""
    ends = [end for topic in detail.topics for end in queue_ends(topic)]
    before, after = set(detail.client_ids_before or ()), set(detail.client_ids_after or ())
    told = detail.client_ids_before is not None and detail.client_ids_after is not None
    lines = [
        MemberLine(
            client_id=owner,
            colour=colour,
            came=told and owner not in before and owner in after,
            went=told and owner in before and owner not in after,
            before=_held(owner, [end.before for end in ends]),
            after=_held(owner, [end.after for end in ends]),
        )
        for owner, colour in colours_of(detail).items()
    ]
    return sorted(lines, key=lambda line: (not line.came, not line.went, line.client_id))


def topic_views(detail: RebalanceDetail, *, all_moves: bool) -> list[TopicView]:
    return list(_topic_views(detail, all_moves))


def colours_of(detail: RebalanceDetail) -> dict[str, int]:
    """Everybody who was in the group or held a queue, by id."""
    owners = {*(detail.client_ids_before or ()), *(detail.client_ids_after or ())}
    for topic in detail.topics:
        for end in queue_ends(topic):
            owners |= {*(end.before or ()), *(end.after or ())}
    return colour_places(sorted(owners))


def queue_ends(topic: TopicCost) -> list[QueueEnds]:
    """Where it is not known what moved, it is not known who held a queue before that is not among the moves."""
    ends = [QueueEnds(move.broker, move.queue_id, move.before, move.after, False) for move in topic.moves]
    known = topic.cost.queues_moved is not None
    return ends + [
        QueueEnds(one.broker, one.queue_id, one.owners if known else None, one.owners, known or None)
        for one in topic.stayed
    ]


def _topic_views(detail: RebalanceDetail, all_moves: bool) -> Iterator[TopicView]:
    colours = colours_of(detail)
    for topic in detail.topics:
        shown = topic.moves if all_moves else topic.moves[:MOVES_SHOWN]
        ends = queue_ends(topic)
        picture = before_after(ends, colours, _label(topic)) if ends else SafeString("")
        yield TopicView(topic, picture, shown, len(topic.moves) - len(shown), len(ends))


def _label(topic: TopicCost) -> str:
    moved = topic.cost.queues_moved
    if moved is None:
        return _("who held the queues of %s before and after; which of them moved is not known") % topic.topic
    words = {"n": count(moved), "topic": topic.topic, "all": count(len(queue_ends(topic)))}
    text = _("%(n)s of %(all)s queues of %(topic)s moved")
    return _("before, above, and after, below: %s") % (text % words)


def _held(owner: str, ends: list[tuple[str, ...] | None]) -> int | None:
    """How many queues it held; null where of one it is not known who did."""
    if not ends or any(end is None for end in ends):
        return None
    return sum(owner in (end or ()) for end in ends)
