"""Back to a past moment: what each queue gets, and what is said of it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from consumers.lake.reader import files
from consumers.lake.store import Lake
from consumers.resets.past_offsets import queues_of_then, targets_of_then
from consumers.resets.target_values import QueueKey, ResetRefused
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import stored_words
from consumers.words.spans import age
from tests.pipeline_rows import at, put, rows

A, B, C = (QueueKey("Orders", broker, 0) for broker in ("broker-a", "broker-b", "broker-c"))
NOW = 3600


@pytest.fixture
def lake(tmp_path, settings):
    settings.CONSUMERSCOPE_LAKE, settings.CONSUMERSCOPE_POLL_SECONDS = str(tmp_path), 15
    return Lake.at(str(tmp_path))


@pytest.fixture
def aggregated(lake):
    """Broker offsets until now, which have not gone back."""
    put_knots(lake, 3500, 200)
    return lake


def put_knots(lake, seconds, broker_offset, broker="broker-a"):
    knot = {"cluster": "prod", "topic": "Orders", "broker": broker, "queue_id": 0, "broker_offset": broker_offset}
    put(lake, "knots", [{**knot, "at": at(seconds)}], time="at")


def targets(seconds: float, *keys: QueueKey) -> Any:
    return targets_of_then("prod", "billing", at(seconds), keys or (A,), at(NOW))


def test_a_queue_goes_to_where_it_stood(aggregated):
    put(aggregated, "readings", rows([(10, 99), (20, 99), (30, 99)]))
    assert targets(20) == ({A: 20}, ())


def test_offsets_that_the_broker_lost_since_are_found(aggregated):
    lost = rows([(None, 100)] * 3, start=15, unknown_reason=UnknownReason.NEVER_COMMITTED)
    put(aggregated, "readings", rows([(10, 99)]) + lost)
    assert targets(10) == ({A: 10}, ())
    assert queues_of_then("prod", "billing", at(10), None) == (A,)


@pytest.mark.parametrize(("late", "is_told"), [(15, False), (22, False), (23, True), (600, True)])
def test_a_reading_from_well_before_is_told_with_its_age(aggregated, late, is_told):
    put(aggregated, "readings", rows([(10, 99)]) + rows([(7, 9)], start=late, broker="broker-b"))
    found, warnings = targets(late)
    assert found == {A: 10}
    assert bool(warnings) is is_told
    if is_told:
        assert f"Queues not polled right before {at(late):%Y-%m-%d %H:%M:%S} UTC: 1." in stored_words(warnings[0])
        assert f"{age(late)} earlier (Orders/broker-a/0 at 2026-03-01 02:00:00 UTC)" in stored_words(warnings[0])


def test_the_oldest_reading_is_named_and_a_queue_without_target_is_not_counted(aggregated):
    remade, late = rows([(5, 5000)], broker="broker-b"), rows([(4, 9)], start=75, broker="broker-c")
    put(aggregated, "readings", rows([(10, 99)], start=60) + remade + late)
    put_knots(aggregated, 3501, 10, "broker-b")
    found, warnings = targets(120, A, B, C)
    assert (found[A], found[C]) == (10, 4)
    assert "fell from 5,000 to 10" in stored_words(found[B])
    assert stored_words(warnings[0]).startswith("Queues not polled right before 2026-03-01 02:02:00 UTC: 2.")
    assert "1 min earlier (Orders/broker-a/0" in stored_words(warnings[0])


def test_a_queue_that_no_reading_saw_then_has_none(aggregated):
    put(aggregated, "readings", rows([(10, 99)]) + rows([(7, 9)], start=300, broker="broker-b"))
    found, _ = targets(5, A, B)
    assert found[A] == 10
    assert (
        stored_words(found[B])
        == "No poll shortly before 2026-03-01 02:00:05 UTC found an offset of the group in this queue."
    )


def test_a_queue_that_had_no_commit_then_has_none(aggregated):
    put(aggregated, "readings", rows([(None, 99)], unknown_reason=UnknownReason.NEVER_COMMITTED))
    found, _ = targets(5)
    assert stored_words(found[A]) == "No offset at 2026-03-01 02:00:05 UTC: never committed."


def test_a_queue_that_was_made_anew_since_has_none(lake):
    put(lake, "readings", rows([(10, 99)]))
    put_knots(lake, 3500, 5)
    found, warnings = targets(5)
    assert "topic is re-created" in stored_words(found[A])
    assert warnings == ()


def test_without_aggregated_broker_offsets_it_warns(lake):
    put(lake, "readings", rows([(10, 99)]))
    found, (warning,) = targets(5)
    assert found == {A: 10}
    assert stored_words(warning).startswith("Whether a topic was re-created since then is unknown")


def test_queues_that_nobody_chose_have_no_part_in_it(aggregated):
    put(aggregated, "readings", rows([(10, 99)], start=600) + rows([(7, 9)], broker="broker-b"))
    assert targets(600, A) == ({A: 10}, ())


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        (-1, "No poll of prod is stored for the 15 minutes up to 2026-03-01 01:59:59 UTC"),
        (600, "No poll in the 15 minutes up to 2026-03-01 02:10:00 UTC found offsets of billing"),
    ],
)
def test_a_moment_without_readings_of_the_group_is_refused(aggregated, seconds, why):
    put(aggregated, "readings", rows([(10, 99)], group="shipping"))
    for asked in (lambda: targets(seconds), lambda: queues_of_then("prod", "billing", at(seconds), None)):
        with pytest.raises(ResetRefused) as refused:
            asked()
        assert why in str(refused.value)


@pytest.mark.parametrize("table", ["readings", "knots"])
def test_a_history_that_cannot_be_read_is_refused(aggregated, table):
    put(aggregated, "readings", rows([(10, 99)]))
    (name,) = files(aggregated, table, "prod", at(0), at(NOW))
    Path(name).write_bytes(b"no Parquet")
    # The second time the file is gone from its place, and what it held is as unknown as before.
    for _ in range(2):
        with pytest.raises(ResetRefused, match="Could not read the history"):
            targets(5)


def test_rare_polls_are_looked_back_for_further(aggregated, settings):
    settings.CONSUMERSCOPE_POLL_SECONDS = 1200
    put(aggregated, "readings", rows([(10, 99)]))
    found, warnings = targets(timedelta(minutes=20).total_seconds())
    assert (found, warnings) == ({A: 10}, ())


KINDS = {"Orders": "normal", "%RETRY%billing": "retry", "%DLQ%billing": "dlq", "%RETRY%shipping": "normal"}


@pytest.mark.parametrize(
    ("topics", "found"),
    [
        (None, {"Orders", "%RETRY%shipping"}),
        (["Orders"], {"Orders"}),
        (["%RETRY%billing"], {"%RETRY%billing"}),
        (["%DLQ%billing"], set()),
        ([], set()),
    ],
)
def test_the_groups_own_retries_are_taken_only_where_they_were_chosen(aggregated, topics, found):
    of_topics = [rows([(10, 99)], topic=topic, kind=kind) for topic, kind in KINDS.items()]
    put(aggregated, "readings", [row for topic in of_topics for row in topic])
    assert {key.topic for key in queues_of_then("prod", "billing", at(5), topics)} == found
