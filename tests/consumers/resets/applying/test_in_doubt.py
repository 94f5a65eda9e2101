"""Whether a queue that a dead worker was writing may be written again."""

from typing import Any

import pytest

from consumers.models import ResetMethod, ResetQueue, ResetStep
from consumers.resets.applying.run import settle
from consumers.resets.planning.queue_plan import GroupSetup, QueueOffsets
from consumers.resets.target_values import QueueKey
from consumers.words.reasons import stored_words
from tests.world import NOW

KEY = QueueKey("Orders", "broker-a", 0)
ONLINE, OFFLINE = ["c1"], []


def facts(members: list[str] | None, stands: int | None, error: str | None) -> GroupSetup:
    said: dict[str, Any] = {"members_error": None, "message_model": None, "consume_type": None, "orderly": None}
    queue = QueueOffsets(KEY, 0, 1000, stands, error)
    who = None if members is None else tuple(members)
    more = {"languages": (), "pop_topics": frozenset(), "brokers": {}, "queues": {KEY: queue}}
    return GroupSetup(taken_at=NOW, members=who, **said, **more)


@pytest.mark.parametrize(
    ("before", "target", "stands", "there", "again"),
    [
        # Members, also those that have left since, may have gone back, and have consumed it all again.
        (500, 300, 500, OFFLINE, False),
        (500, 300, 300, OFFLINE, False),
        (500, 300, 480, OFFLINE, False),
        (500, 300, 500, ONLINE, False),
        (500, 300, 500, None, False),
        # Nobody comes back from further ahead.
        (500, 700, 500, ONLINE, True),
        (500, 700, 700, ONLINE, False),
        (500, 700, 510, ONLINE, False),
        # No call takes a commit away.
        (None, 300, None, ONLINE, True),
        (None, 300, 300, ONLINE, False),
        (500, 500, 500, OFFLINE, False),
    ],
)
def test_it_is_written_again_only_where_nothing_can_be_replayed_twice(
    before: int | None,
    target: int,
    stands: int | None,
    there: list[str] | None,
    again: bool,
) -> None:
    row = in_doubt(before, target)
    settle([row], facts(there, stands, None))
    assert (row.step == ResetStep.PLANNED) == again
    assert (row.step == ResetStep.UNANSWERED) == (not again)


def in_doubt(before: int | None, target: int, method: ResetMethod = ResetMethod.SERVER) -> ResetQueue:
    place: dict[str, Any] = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
    said = {"step": ResetStep.WRITING, "before": before, "before_at": NOW, "target": target, "method": method}
    return ResetQueue(**place, **said)


def test_members_are_not_told_twice() -> None:
    row = in_doubt(500, 700, ResetMethod.CLIENT)
    settle([row], facts(ONLINE, 500, None))
    assert row.step == ResetStep.UNANSWERED


def test_one_that_cannot_be_read_is_not_written_again() -> None:
    row = in_doubt(500, 700)
    settle([row], facts([], None, "broker-a is silent"))
    assert (row.step, row.before, row.written_at) == (ResetStep.UNANSWERED, 500, NOW)
    assert "the read-back shows" in str(stored_words(row.error))


def test_one_that_is_written_again_is_as_planned() -> None:
    row = in_doubt(500, 700)
    settle([row], facts([], 500, None))
    assert (row.step, row.before, row.before_at, stored_words(row.error)) == (ResetStep.PLANNED, None, None, None)
