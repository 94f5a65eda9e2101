"""Where a group stands as CSV: what was read, and empty cells with the reason for what was not."""

import csv
import io
from typing import Any

import pytest

from consumers.models import ConsumerGroup
from consumers.resets.offset_csv import OffsetsIn, group_offsets_csv, offsets_in
from consumers.vocabulary.states import UnknownReason
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    cluster = a_cluster()
    a_broker(cluster, last_read_at=ago(5))
    return a_group(cluster)


def read(group: ConsumerGroup) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(group_offsets_csv(group, NOW)), newline=""), strict=True))


def snapshot(group: ConsumerGroup, consumer: int | None, *place: Any, **fields: Any) -> None:
    more = {name: fields.pop(name) for name in ("broker", "kind") if name in fields}
    a_snapshot(group, a_queue(group.cluster, *place, **more), consumer, 100, **fields)


def test_a_queue_is_a_line_with_its_ends_and_time(group: ConsumerGroup) -> None:
    snapshot(group, 40, min_offset=10)
    (row,) = read(group)
    assert list(row.values()) == ["Orders", "broker-a", "0", "40", "10", "100", "2026-03-14T02:59:55+00:00", ""]


def test_offset_zero_is_written(group: ConsumerGroup) -> None:
    snapshot(group, 0)
    assert (read(group)[0]["offset"], read(group)[0]["min"]) == ("0", "0")


def test_a_queue_without_a_commit_is_empty_and_says_so(group: ConsumerGroup) -> None:
    snapshot(group, None, unknown_reason=UnknownReason.NEVER_COMMITTED)
    (row,) = read(group)
    assert (row["offset"], row["max"], row["unknown_reason"]) == ("", "100", "never committed")


def test_what_a_silent_broker_said_before_is_not_shown_as_known(group: ConsumerGroup) -> None:
    a_dead_broker(group.cluster)
    snapshot(group, 40, broker="broker-b")
    (row,) = read(group)
    assert (row["offset"], row["min"], row["max"]) == ("", "", "")
    assert row["unknown_reason"] == "broker-b could not be read: connection refused"
    assert row["taken_at"] == "2026-03-14T02:55:00+00:00"


def test_its_retry_topic_is_in_it_and_its_dead_letters_are_not(group: ConsumerGroup) -> None:
    snapshot(group, 1, "%RETRY%billing", kind="retry")
    snapshot(group, 1, "%DLQ%billing", kind="dlq")
    assert [row["topic"] for row in read(group)] == ["%RETRY%billing"]


def test_it_is_taken_back_as_the_target_of_a_reset(group: ConsumerGroup) -> None:
    snapshot(group, 40)
    snapshot(group, None, "Orders", 1, unknown_reason=UnknownReason.NEVER_COMMITTED)
    snapshot(group, 7, "-minus", 2)
    entries = [
        {"topic": "-minus", "broker": "broker-a", "queue_id": 2, "offset": 7},
        {"topic": "Orders", "broker": "broker-a", "queue_id": 0, "offset": 40},
    ]
    assert offsets_in("".join(group_offsets_csv(group, NOW))) == OffsetsIn(entries, 1)


def test_other_groups_are_not_in_it(group: ConsumerGroup) -> None:
    snapshot(a_group(group.cluster, "shipping"), 40)
    assert read(group) == []


def test_it_costs_the_same_queries_for_many_queues(group: ConsumerGroup, django_assert_num_queries: Any) -> None:
    for number in range(30):
        snapshot(group, number, "Orders", number)
    with django_assert_num_queries(3):
        assert len(read(group)) == 30
