"""Rows of queues' states as a run leaves them."""

from collections.abc import Callable, Collection
from typing import Any

import pyarrow as pa
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from consumers.models import ConsumerGroup, GroupState, Queue, QueueState, Topic
from consumers.pipeline.queue_rows import QueueIds, QueueStateWriting, StateRows
from tests.pipeline_rows import at
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("cluster", "group", "topic", "broker")),
        ("queue_id", pa.int32()),
        *((name, pa.string()) for name in ("state", "rule", "detail", "time_lag_kind")),
        ("provisional", pa.bool_()),
        ("since", pa.timestamp("us", tz="UTC")),
        ("time_lag_seconds", pa.float64()),
        ("time_lag_error_seconds", pa.float64()),
    ]
)


@pytest.fixture
def group() -> ConsumerGroup:
    group = a_group(a_cluster(read_at=None), "billing")
    topic = Topic.objects.create(cluster=group.cluster, name="Orders", kind="normal", first_seen_at=at(0))
    for number in range(2):
        Queue.objects.create(topic=topic, broker="broker-a", queue_id=number, readable=True, writable=True)
    return group


def judged(queue_id: int = 0, **fields: object) -> dict[str, object]:
    place = {"cluster": "prod", "group": "billing", "topic": "Orders", "broker": "broker-a", "queue_id": queue_id}
    verdict = {"state": "STALL", "rule": "stalled", "detail": "{}", "time_lag_kind": "at_least", "provisional": False}
    return {**place, **verdict, "since": None, "time_lag_seconds": 60.0, "time_lag_error_seconds": None, **fields}


def write(*rows: dict[str, object], seconds: int) -> int:
    return write_parts(StateRows(), list(rows), seconds=seconds)


def write_parts(
    kept: StateRows, *parts: list[dict[str, object]], seconds: int, interrupted: Collection[int] = ()
) -> int:
    """One run, whose groups come in several parts. Returns how many were placed."""
    writing = QueueStateWriting(["prod"], at(seconds), QueueIds().of(["prod"]), kept, interrupted)
    placed = sum(writing.write(pa.Table.from_pylist(part, SCHEMA)) for part in parts)
    writing.end()
    return placed


def row() -> tuple[object, ...]:
    return QueueState.objects.values_list("state", "time_lag_seconds", "since", "judged_at").get()


def test_a_state_begins_where_its_evidence_does_or_when_it_was_first_judged(group: ConsumerGroup) -> None:
    write(judged(0, since=at(10)), judged(1), seconds=60)
    since = dict(QueueState.objects.values_list("queue__queue_id", "since"))
    assert since == {0: at(10), 1: at(60)}


def test_a_state_that_stays_keeps_its_beginning(group: ConsumerGroup) -> None:
    write(judged(), seconds=60)
    write(judged(time_lag_seconds=90.0, since=at(75)), seconds=90)
    assert row() == ("STALL", 90.0, at(60), at(90))


@pytest.mark.parametrize(("evidence", "since"), [(None, 7200), (5400, 5400)])
def test_after_a_time_without_readings_and_runs_a_state_begins_anew_or_where_its_evidence_does(
    group: ConsumerGroup, evidence: int | None, since: int
) -> None:
    write(judged(), seconds=60)
    again = judged(since=None if evidence is None else at(evidence))
    write_parts(StateRows(), [again], seconds=7200, interrupted=[group.pk])
    assert row() == ("STALL", 60.0, at(since), at(7200))


def test_an_unknown_state_goes_on_after_such_a_time(group: ConsumerGroup) -> None:
    write(judged(state="UNKNOWN"), seconds=60)
    write_parts(StateRows(), [judged(state="UNKNOWN")], seconds=7200, interrupted=[group.pk])
    assert row() == ("UNKNOWN", 60.0, at(60), at(60))


def test_another_state_begins_anew(group: ConsumerGroup) -> None:
    write(judged(), seconds=60)
    write(judged(state="OK"), seconds=90)
    assert row() == ("OK", 60.0, at(90), at(90))


def test_what_has_not_changed_is_not_written(group: ConsumerGroup) -> None:
    write(judged(provisional=True), seconds=60)
    write(judged(provisional=True, detail='{"lag_messages":1}'), seconds=90)
    assert row() == ("STALL", 60.0, at(60), at(60))


@pytest.mark.parametrize("field", [{"time_lag_seconds": None}, {"provisional": True}, {"rule": "another"}])
def test_each_of_its_numbers_is_a_change(group: ConsumerGroup, field: dict[str, object]) -> None:
    write(judged(), seconds=60)
    write(judged(**field), seconds=90)
    assert row()[3] == at(90)


def write_again(kept: StateRows, *rows: dict[str, object], seconds: int) -> None:
    """As runs of one process do."""
    write_parts(kept, list(rows), seconds=seconds)
    groups_are_judged(seconds)


def groups_are_judged(seconds: int) -> None:
    for group in ConsumerGroup.objects.all():
        defaults = {"judged_at": at(seconds), "since": at(0), "completeness": 1.0}
        GroupState.objects.update_or_create(group=group, defaults=defaults)


def queries_of_states(queries: Any) -> int:
    return sum('"consumers_queuestate"."state"' in one["sql"] for one in queries.captured_queries)


def test_states_are_read_once_and_what_changes_is_written(group: ConsumerGroup) -> None:
    kept = StateRows()
    write_again(kept, judged(), seconds=60)
    with CaptureQueriesContext(connection) as queries:
        write_again(kept, judged(), seconds=90)
        write_again(kept, judged(time_lag_seconds=90.0), seconds=120)
    assert queries_of_states(queries) == 0
    assert row() == ("STALL", 90.0, at(60), at(120))


def test_a_state_that_was_deleted_meanwhile_is_written_again(group: ConsumerGroup) -> None:
    kept = StateRows()
    write_again(kept, judged(), seconds=60)
    QueueState.objects.all().delete()
    write_again(kept, judged(), seconds=90)
    assert row() == ("STALL", 60.0, at(90), at(90))


def test_what_another_run_judged_meanwhile_is_read_again(group: ConsumerGroup) -> None:
    kept = StateRows()
    write_again(kept, judged(), seconds=60)
    write_again(StateRows(), judged(state="OK"), seconds=90)
    write_again(kept, judged(), seconds=120)
    assert row() == ("STALL", 60.0, at(120), at(120))


def test_what_another_process_wrote_before_it_died_is_read_again(group: ConsumerGroup) -> None:
    """Its run ended between the states of queues and those of groups."""
    kept = StateRows()
    write_again(kept, judged(), seconds=60)
    QueueState.objects.update(state="OK", judged_at=at(90))
    write_again(kept, judged(), seconds=120)
    assert row() == ("STALL", 60.0, at(120), at(120))


def test_states_are_read_again_in_another_hour(group: ConsumerGroup) -> None:
    kept = StateRows()
    write_again(kept, judged(), seconds=60)
    QueueState.objects.update(state="OK")
    write_again(kept, judged(), seconds=60 + 3600)
    assert row()[0] == "STALL"


def test_a_queue_that_got_its_row_meanwhile_is_placed(group: ConsumerGroup) -> None:
    kept = StateRows()
    write_again(kept, judged(7), seconds=60)
    Queue.objects.create(topic=group.cluster.topics.get(), broker="broker-a", queue_id=7, readable=True, writable=True)
    write_again(kept, judged(7), seconds=90)
    assert row()[3] == at(90)


def test_what_goes_while_states_are_kept_goes(group: ConsumerGroup) -> None:
    kept = StateRows()
    for seconds in (60, 90):
        write_again(kept, judged(0), judged(1), seconds=seconds)
    for seconds in (120, 150):
        write_again(kept, judged(1), seconds=seconds)
        assert list(QueueState.objects.values_list("queue__queue_id", flat=True)) == [1]


def of_group(name: str, **fields: object) -> list[dict[str, object]]:
    return [judged(number, group=name, **fields) for number in range(2)]


def states() -> dict[str, str]:
    return dict(QueueState.objects.order_by("group__name").values_list("group__name", "state"))


@pytest.mark.parametrize("again", [["audit", "billing"], ["billing", "audit"], ["billing"], ["audit"]])
def test_parts_of_another_order_or_number_are_placed_all_the_same(group: ConsumerGroup, again: list[str]) -> None:
    a_group(group.cluster, "audit")
    kept = StateRows()
    write_parts(kept, of_group("audit"), of_group("billing"), seconds=60)
    groups_are_judged(60)
    write_parts(kept, *(of_group(name, state="OK") for name in again), seconds=90)
    groups_are_judged(90)
    assert states() == dict.fromkeys(again, "OK")
    assert QueueState.objects.count() == 2 * len(again)
    write_parts(kept, *(of_group(name) for name in again), seconds=120)
    assert set(QueueState.objects.values_list("state", "since")) == {("STALL", at(120))}


def test_a_run_that_failed_between_its_parts_is_begun_anew(group: ConsumerGroup) -> None:
    a_group(group.cluster, "audit")
    kept = StateRows()
    write_parts(kept, of_group("audit"), of_group("billing"), seconds=60)
    groups_are_judged(60)
    failed = QueueStateWriting(["prod"], at(90), QueueIds().of(["prod"]), kept)
    failed.write(pa.Table.from_pylist(of_group("audit", state="OK"), SCHEMA))
    write_parts(kept, of_group("audit"), of_group("billing"), seconds=120)
    assert states() == {"audit": "STALL", "billing": "STALL"}
    assert set(QueueState.objects.filter(group__name="audit").values_list("since", flat=True)) == {at(120)}


def test_a_queue_without_a_row_of_the_poll_waits(group: ConsumerGroup) -> None:
    assert write(judged(0), judged(7), seconds=60) == 1
    assert QueueState.objects.count() == 1


def test_what_is_no_longer_judged_goes(group: ConsumerGroup) -> None:
    write(judged(0), judged(1), seconds=60)
    write(judged(1), seconds=90)
    assert list(QueueState.objects.values_list("queue__queue_id", flat=True)) == [1]


def test_keys_are_read_again_where_rows_came_went_or_were_renamed(group: ConsumerGroup) -> None:
    kept = QueueIds()

    def keys() -> list[int]:
        return sorted(kept.of(["prod"])["queue_pk"].to_pylist())

    first, second = Queue.objects.order_by("pk").values_list("pk", flat=True)
    assert keys() == [first, second]
    third = Queue.objects.create(
        topic=group.cluster.topics.get(), broker="broker-a", queue_id=2, readable=True, writable=True
    )
    assert keys() == [first, second, third.pk]
    Queue.objects.filter(pk=first).delete()
    assert keys() == [second, third.pk]
    assert kept.of(["other"]).num_rows == 0
    group.cluster.name = "other"
    group.cluster.save()
    assert kept.of(["other"]).num_rows == 2


def test_keys_are_read_once(group: ConsumerGroup, django_assert_num_queries: Callable[[int], Any]) -> None:
    kept = QueueIds()
    kept.of(["prod"])
    with django_assert_num_queries(2):
        assert kept.of(["prod"]).num_rows == 2
