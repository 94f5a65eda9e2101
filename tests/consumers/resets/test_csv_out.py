"""Resets as CSV: one with its queues, a list of them with every act."""

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest

from consumers.models import ConsumerGroup, ResetKind, ResetMethod, ResetOutcome, ResetStatus, ResetStep
from consumers.resets import offset_csv
from consumers.resets.offset_csv import AUDIT_COLUMNS, QUEUE_COLUMNS, offsets_in, queues_csv, resets_csv
from consumers.resets.queries import ResetFilters
from consumers.resets.target_values import ValueRefused
from tests.reset_rows import a_queue_left_out, a_reset, a_reset_queue, an_event
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db

WRITTEN = {
    "step": ResetStep.READ_BACK,
    "outcome": ResetOutcome.CONFIRMED,
    "before": 61,
    "before_at": ago(30),
    "written_at": ago(29),
    "answered": 40,
    "after": 40,
    "after_at": ago(5),
    "readings": [[ago(28).isoformat(), 61], [ago(27).isoformat(), 40]],
    "evidence": "it stood at 40 for 12 s",
}


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


def read(lines: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(lines), newline=""), strict=True))


def test_a_queue_has_all_of_plan_and_result(group: ConsumerGroup) -> None:
    reset = a_reset(group)
    a_reset_queue(reset, **WRITTEN)
    (row,) = read(queues_csv(reset.pk))
    assert tuple(row) == QUEUE_COLUMNS
    plan = (
        "topic",
        "broker",
        "queue_id",
        "now",
        "target",
        "replayed_messages",
        "skipped_messages",
        "restorable",
        "method",
    )
    assert [row[name] for name in plan] == ["Orders", "broker-a", "0", "60", "40", "20", "0", "true", "server_side"]
    result = ("before", "written_at", "answered", "after", "outcome", "evidence")
    assert [row[name] for name in result] == [
        "61",
        "2026-03-14T02:59:31+00:00",
        "40",
        "40",
        "CONFIRMED",
        "it stood at 40 for 12 s",
    ]
    assert json.loads(row["readings"]) == [["2026-03-14T02:59:32+00:00", 61], ["2026-03-14T02:59:33+00:00", 40]]


def test_what_is_not_known_is_empty_and_has_its_reason(group: ConsumerGroup) -> None:
    reset = a_reset(group)
    a_reset_queue(reset, now_offset=None, replayed_messages=None, unknown={"replayed_messages": "it had no commit"})
    (row,) = read(queues_csv(reset.pk))
    assert (row["now"], row["replayed_messages"], row["skipped_messages"]) == ("", "", "0")
    unknown = json.loads(row["unknown"])
    assert (unknown["now"], unknown["replayed_messages"]) == ("no committed offset", "it had no commit")
    assert {name for name, value in row.items() if value == ""} == set(unknown)


def test_queues_that_are_left_out_are_there_with_the_reason(group: ConsumerGroup) -> None:
    reset = a_reset(group)
    a_reset_queue(reset)
    a_queue_left_out(reset, 1, "broker-b is down")
    assert [row["left_out"] for row in read(queues_csv(reset.pk))] == ["", "broker-b is down"]


def test_only_queues_of_the_reset_are_there(group: ConsumerGroup) -> None:
    a_reset_queue(a_reset(group))
    assert read(queues_csv(a_reset(group).pk)) == []


def test_its_file_is_taken_as_a_list_only_once_a_column_is_called_offset(group: ConsumerGroup) -> None:
    reset = a_reset(group)
    a_reset_queue(reset, **WRITTEN)
    text = "".join(queues_csv(reset.pk))
    with pytest.raises(ValueRefused, match="The header lacks offset"):
        offsets_in(text)
    entry = {"topic": "Orders", "broker": "broker-a", "queue_id": 0, "offset": 61}
    assert offsets_in(text.replace(",before,", ",offset,", 1)).entries == [entry]


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-1", "@SUM", "\t=1"])
def test_no_text_becomes_a_formula(group: ConsumerGroup, name: str) -> None:
    reset = a_reset(group, reason=name, by_name=name, warnings=[name])
    a_reset_queue(reset, evidence=name, topic=name)
    (queue,), (row,) = read(queues_csv(reset.pk)), read(resets_csv(NOW, ResetFilters()))
    assert {queue["evidence"], queue["topic"], row["reason"], row["by"]} == {f"'{name}"}


def test_a_number_below_zero_is_no_text(group: ConsumerGroup) -> None:
    a_reset(group, kind=ResetKind.SHIFT, value=-3)
    assert read(resets_csv(NOW, ResetFilters()))[0]["value"] == "-3"


def test_the_list_says_who_when_from_where_and_why(group: ConsumerGroup) -> None:
    reset = a_reset(group, status=ResetStatus.APPLIED, applied_by_name="bo", started_at=ago(50), finished_at=ago(20))
    a_reset_queue(reset, **WRITTEN)
    an_event(reset)
    an_event(reset, "The worker began.", by_name=None, address=None, via="worker")
    (row,) = read(resets_csv(NOW, ResetFilters()))
    assert tuple(row) == AUDIT_COLUMNS
    said = [row[name] for name in ("cluster", "group", "status", "by", "applied_by", "reason", "seconds", "CONFIRMED")]
    assert said == ["prod", "billing", "applied", "ops", "bo", "orders were lost", "30.0", "1"]
    asked, begun = json.loads(row["events"])
    assert (asked["by"], asked["address"], asked["via"], asked["sentence"]) == (
        "ops",
        "10.1.2.3",
        "rest",
        "Planned it.",
    )
    assert (begun["by"], begun["via"]) == (None, "worker")


def test_a_reset_without_a_plan_has_no_numbers_and_the_reason(group: ConsumerGroup) -> None:
    a_reset(group, status=ResetStatus.REFUSED, planned_at=None, expires_at=None, error="no queue can be moved")
    (row,) = read(resets_csv(NOW, ResetFilters()))
    assert (row["queues"], row["CONFIRMED"], row["replayed_messages"]) == ("", "", "")
    unknown = json.loads(row["unknown"])
    assert unknown["queues"] == unknown["CONFIRMED"] == "no plan"
    assert {name for name, value in row.items() if value == ""} == set(unknown)


def test_a_plan_that_is_not_applied_has_no_outcome_yet(group: ConsumerGroup) -> None:
    a_reset_queue(a_reset(group))
    (row,) = read(resets_csv(NOW, ResetFilters()))
    assert (row["queues"], row["moving"], row["done"], row["CONFIRMED"], row["UNKNOWN"]) == ("1", "1", "0", "0", "0")


def test_a_long_list_stands_in_the_reset_itself(group: ConsumerGroup) -> None:
    entry = {"topic": "Orders", "broker": "broker-a", "offset": 1}
    a_reset(group, kind=ResetKind.OFFSETS, value=[{**entry, "queue_id": number} for number in range(101)])
    (row,) = read(resets_csv(NOW, ResetFilters()))
    assert row["value"] == ""
    assert json.loads(row["unknown"])["value"].startswith("a list of 101 queues")


def test_a_list_that_is_not_long_is_there(group: ConsumerGroup) -> None:
    entry = {"topic": "Orders", "broker": "broker-a", "offset": 1}
    entries = [{**entry, "queue_id": number} for number in range(100)]
    a_reset(group, kind=ResetKind.OFFSETS, value=entries)
    assert json.loads(read(resets_csv(NOW, ResetFilters()))[0]["value"]) == entries


def test_all_pages_are_there_once_also_where_others_come_meanwhile(
    group: ConsumerGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(offset_csv, "RESETS_AT_ONCE", 2)
    old = [str(a_reset(group, created_at=ago(seconds)).pk) for seconds in range(10, 15)]
    lines = resets_csv(NOW, ResetFilters())
    taken = [next(lines) for _ in range(2)]
    a_reset(group, created_at=NOW + timedelta(seconds=1))
    assert [row["id"] for row in read([*taken, *lines])] == old


def test_the_filters_are_those_of_the_list(group: ConsumerGroup) -> None:
    other = a_group(group.cluster, "shipping")
    a_reset(group)
    mine = a_reset(other, by_name="ann")
    for chosen in ({"group": "shipping"}, {"by": "ann"}):
        assert [row["id"] for row in read(resets_csv(NOW, ResetFilters(**chosen)))] == [str(mine.pk)]
    assert read(resets_csv(NOW, ResetFilters(status="applied", cluster="prod"))) == []


def test_ten_thousand_queues_are_read_in_one_query(
    group: ConsumerGroup, django_assert_num_queries: Any, settings: Any
) -> None:
    reset = a_reset(group)
    for number in range(20):
        a_reset_queue(reset, number, method=ResetMethod.COMMIT)
    with django_assert_num_queries(1):
        assert len(list(queues_csv(reset.pk))) == 21
