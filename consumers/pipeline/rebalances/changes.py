"""What a reading positively shows to be different from before: who is in the group, what a member reports of itself.

Silence changes nothing. Offsets do not count.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from consumers.polling.members.collected import BEHIND_A_PROXY

from .history import CLUSTERING, PUSH, GroupHistory, GroupReading
from .member_rows import MemberAnswer


@dataclass(frozen=True)
class MemberChange:
    """A member's answer that differs from its own before. `after_us`: not earlier than that it changed."""

    answer: MemberAnswer
    previous: MemberAnswer
    after_us: int
    moved: bool
    restarted: bool
    strategy_changed: bool
    subscription_changed: bool
    touched: bool  # by its own clock its queues or subscriptions changed

    @property
    def client_id(self) -> str:
        return self.answer.client_id

    @property
    def at_us(self) -> int:
        return self.answer.at_us

    @property
    def is_any(self) -> bool:
        return self.moved or self.restarted or self.strategy_changed or self.subscription_changed or self.touched


@dataclass(frozen=True)
class ReadingChanges:
    """`after_us`: the changes that the reading shows came later than this; null: unknown, or nothing changed."""

    after_us: int | None = None
    members_changed: bool = False  # members joined or left since the list of members before
    of_members: list[MemberChange] = field(default_factory=list)

    @property
    def is_any(self) -> bool:
        return self.members_changed or bool(self.of_members)


def reading_changes(history: GroupHistory, number: int) -> ReadingChanges:
    """Of the reading with this number, from the readings before it."""
    reading, last_listing = history.reading(number), history.last_listing(number)
    listed_us = last_listing[0] if last_listing else None
    if listed_us is not None and listed_us < reading.at_us - history.lookback_us:
        listed_us = None
    members_changed = _members_changed(history, reading, listed_us)
    doubled = {
        one.client_id
        for one in history.listed(reading.at_us)
        if one.doubled_us is not None and one.doubled_us <= reading.at_us
    }
    listed_version_us = last_listing[1] if last_listing else None
    compared = [
        _compared(one, one.previous, one.client_id not in doubled, listed_us, listed_version_us)
        for one in reading.answers
        if one.previous is not None and one.client_id in reading.members
    ]
    of_members = [one for one in compared if one.is_any]
    after_us = [one.after_us for one in of_members]
    if members_changed:
        after_us += _last_listed(history, reading, listed_us)
    return ReadingChanges(min(after_us, default=None), members_changed, of_members)


def _members_changed(history: GroupHistory, reading: GroupReading, listed_us: int | None) -> bool:
    at_us = reading.at_us
    # A second process under the same id is one more member, though the list of ids is the same.
    if not any(at_us in (one.seen_us, one.gone_us, one.doubled_us) for one in history.intervals):
        return False
    # The first that is seen of a group is no change, unless it is only the first for long.
    return listed_us is not None or any(one.seen_us < at_us - history.lookback_us for one in history.intervals)


def _last_listed(history: GroupHistory, reading: GroupReading, listed_us: int | None) -> list[int]:
    if listed_us is not None:
        return [listed_us]
    gone = [one.last_seen_us for one in history.intervals if one.gone_us == reading.at_us]
    return [max(gone)] if gone else []


def _compared(
    one: MemberAnswer,
    previous: MemberAnswer,
    is_single: bool,
    listed_us: int | None,
    listed_version_us: int | None,
) -> MemberChange:
    """What was not reported both times has not changed. Two processes that share an id answer in turn."""
    # A member tells its brokers at once (RocketMQ 5.4.0, RebalancePushImpl.messageQueueChanged): where none had heard
    # of this change when members were last listed, it came later.
    is_unheard = _is_later(one.sub_version_us, listed_version_us)
    return MemberChange(
        one,
        previous,
        after_us=max(previous.at_us, listed_us) if is_unheard and listed_us is not None else previous.at_us,
        moved=one.places != previous.places,
        # An earlier start is another process under the same id, which was there before.
        restarted=is_single and _is_later(one.started_us, previous.started_us),
        strategy_changed=_is_other(one.strategy, previous.strategy),
        subscription_changed=_is_other(one.subscription, previous.subscription),
        touched=is_single and _is_other(one.sub_version_us, previous.sub_version_us),
    )


def _is_later(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one > other


def _is_other(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other


def topics_of(history: GroupHistory, reading: GroupReading) -> list[str]:
    """What listed members subscribe to and hold. An expression may be of several lines: a line that begins with no
    topic names none."""
    lines = [line for one in reading.reports for line in (one.subscription or "").split("\n")]
    known = {queue.topic for queue in history.queues}
    subscribed = [name for line in lines if (name := line.split(" ", 1)[0]) in known]
    return list(dict.fromkeys([*subscribed, *(topic for topic, _, _ in reading.held)]))


def has_ownership_gaps(history: GroupHistory, reading: GroupReading) -> bool:
    """Of the queues that should have one owner, one has none, or two; or a member has none while another has several:
    it may not have noticed the others yet. Known only where every member reported."""
    is_shared = reading.message_model == CLUSTERING and reading.consume_type == PUSH
    if not (reading.is_reported and is_shared and history.row["shares_queues"]):
        return False
    topics, held = set(topics_of(history, reading)), set(reading.held)
    wanted = (one for one in history.queues if one.topic in topics and one.was_readable(reading.at_us))
    counts = [len(one.queues) for one in reading.reports]
    is_idle = bool(counts) and min(counts) == 0 and max(counts) > 1
    return is_idle or len(reading.held) > len(held) or any(one.place not in held for one in wanted)


@dataclass(frozen=True)
class FailedAnswer:
    client_id: str
    at_us: int
    since_us: int | None


def failed_answers(readings: Sequence[GroupReading]) -> list[FailedAnswer]:
    """Of members that could have been asked."""
    return [
        FailedAnswer(one.client_id, one.at_us, one.failing_since_us)
        for reading in readings
        for one in reading.answers
        if one.error is not None and one.error != BEHIND_A_PROXY
    ]
