"""What is said of each queue of a reset, and in which order."""

from typing import Any

import pytest

from consumers.models import Reset, ResetMethod, ResetOutcome, ResetStep
from consumers.resets.rows import queue_row, reset_queues
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ApplyReason
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue
from tests.world import NOW, a_cluster, a_group

ALL: dict[str, Any] = {"page": 1, "page_size": 100}
BACK = ResetStep.READ_BACK


@pytest.fixture
def reset(db: None) -> Reset:
    return a_reset(a_group(a_cluster()))


def test_those_with_trouble_come_first(reset: Reset) -> None:
    fields: list[dict[str, Any]] = [
        {"step": BACK, "outcome": ResetOutcome.CONFIRMED},
        {},
        {"clipped": True},
        {"step": ResetStep.NOT_DONE},
        {"step": ResetStep.FAILED},
        {"step": BACK, "outcome": ResetOutcome.UNKNOWN},
        {"step": BACK, "outcome": ResetOutcome.UNCHANGED},
        {"step": BACK, "outcome": ResetOutcome.OVERWRITTEN},
    ]
    for queue_id, said in enumerate(fields):
        a_reset_queue(reset, queue_id, **said)
    a_queue_left_out(reset, 8)
    rows, count = reset_queues(reset.pk, **ALL)
    assert ([row.queue_id for row in rows], count) == ([7, 6, 5, 4, 3, 8, 2, 1, 0], 9)


def test_queues_alike_come_by_topic_broker_and_id(reset: Reset) -> None:
    for queue_id, topic, broker in ((1, "B", "x"), (0, "B", "x"), (5, "A", "y"), (9, "A", "x")):
        a_reset_queue(reset, queue_id, topic=topic, broker=broker)
    rows, _ = reset_queues(reset.pk, **ALL)
    assert [(row.topic, row.broker, row.queue_id) for row in rows] == [
        ("A", "x", 9),
        ("A", "y", 5),
        ("B", "x", 0),
        ("B", "x", 1),
    ]


@pytest.mark.parametrize(
    ("filters", "ids"),
    [
        ({"outcome": "UNKNOWN"}, [1]),
        ({"step": "read back"}, [1, 0]),
        ({"step": "planned"}, [2]),
        ({"left_out": True}, [3]),
        ({"left_out": False}, [1, 2, 0]),
        ({"page": 2, "page_size": 3}, [0]),
    ],
)
def test_filters_and_pages_choose(reset: Reset, filters: dict[str, Any], ids: list[int]) -> None:
    a_reset_queue(reset, 0, step=BACK, outcome=ResetOutcome.CONFIRMED)
    a_reset_queue(reset, 1, step=BACK, outcome=ResetOutcome.UNKNOWN)
    a_reset_queue(reset, 2)
    a_queue_left_out(reset, 3)
    rows, _ = reset_queues(reset.pk, **ALL | filters)
    assert [row.queue_id for row in rows] == ids


@pytest.mark.parametrize(
    ("fields", "name", "reason"),
    [
        ({"now_offset": None}, "now", "no committed offset"),
        ({"replayed_messages": None, "unknown": {"replayed_messages": "never committed"}}, "replayed_messages",
         "never committed"),
        ({"now_offset": None, "unknown": {"now_offset": "timed out"}}, "now", "timed out"),
        ({"left_out": "broker-b is silent", "target": None}, "target", "broker-b is silent"),
        ({"left_out": "broker-b is silent", "target": None}, "outcome", "broker-b is silent"),
        ({}, "outcome", "not written yet"),
        ({}, "left_out", "included in the reset"),
        ({"method": ResetMethod.NOTHING}, "written_at", "already at its target"),
        ({"step": ResetStep.NOT_DONE}, "after", "the reset ended before this queue was written"),
        ({"step": ResetStep.WRITTEN, "before_at": NOW}, "before", "no committed offset"),
        ({"step": ResetStep.FAILED}, "before", "it could not be read"),
        ({"step": ResetStep.WRITTEN}, "outcome", "not read back yet"),
        ({"step": BACK, "after_at": NOW}, "after", "no committed offset"),
        ({"target_time": None}, "target_time", "the message at the target was not read"),
    ],
)  # fmt: skip
def test_what_is_null_says_why(reset: Reset, fields: dict[str, Any], name: str, reason: str) -> None:
    assert queue_row(a_reset_queue(reset, **fields)).unknown[name] == reason


def test_what_is_stored_as_a_code_has_it_beside_its_words(reset: Reset) -> None:
    error = stored_reason(ApplyReason.NO_BROKER_ADDRESS, broker="broker-z")
    row = queue_row(a_reset_queue(reset, error=error, evidence="it stood at 40 for 12 s"))
    assert row.error == "the address of broker-z is unknown"
    assert (row.codes["error"], row.codes["outcome"]) == ("no_broker_address", "not_written_yet")
    assert "evidence" not in row.codes


@pytest.mark.parametrize("step", list(ResetStep))
@pytest.mark.parametrize("left_out", [False, True])
def test_every_null_has_a_reason_and_nothing_else_has(reset: Reset, step: ResetStep, left_out: bool) -> None:
    queue = a_queue_left_out(reset, 0) if left_out else a_reset_queue(reset)
    queue.step = step
    row = queue_row(queue)
    nulls = {name for name, value in vars(row).items() if value is None}
    assert nulls == row.unknown.keys()
    assert all(row.unknown.values())


def test_readings_say_when_and_that_nothing_was_committed(reset: Reset) -> None:
    said = [[NOW.isoformat(), None], [NOW.isoformat(), 40]]
    empty, moved = queue_row(a_reset_queue(reset, readings=said)).readings
    assert (empty.at, empty.offset, empty.unknown) == (NOW, None, {"offset": "no committed offset"})
    assert (moved.offset, moved.unknown) == (40, {})
