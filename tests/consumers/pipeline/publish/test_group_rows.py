"""What a run evaluated of a group becomes its row."""

from collections.abc import Mapping
from datetime import datetime

import pyarrow as pa
import pytest

from consumers.models import ConsumerGroup, GroupState, StateChange
from consumers.pipeline.group_rows import write_group_states
from consumers.pipeline.queue_rows import QueueIds
from consumers.pipeline.volumes import NOTHING_KNOWN, Recent
from tests.pipeline_rows import at
from tests.world import a_cluster, a_group

NUMBERS = {"completeness": 0.5, "time_lag_seconds": 2.0, "consume_rate": 4.0, "produce_rate": 5.0, "retry_rate": 0.25}
JUDGED = {
    "cluster": "prod",
    "group": "billing",
    "queues": 3,
    "detail": None,
    "since": None,
    "drain_seconds": None,
    "state": "OK",
    "rule": "caught up",
    "time_lag_kind": "exact",
    **dict.fromkeys(("worst_topic", "worst_broker", "worst_queue_id")),
    **NUMBERS,
}


NO_RECENT: Mapping[int, Recent] = {}


def write(
    moment: datetime,
    interrupted: Mapping[int, datetime] | None = None,
    recent: Mapping[int, Recent] | None = NO_RECENT,
    **more: object,
) -> None:
    judged = pa.Table.from_pylist([JUDGED | more])
    write_group_states(judged, ["prod"], moment, recent, QueueIds().of(["prod"]), interrupted or {})


@pytest.mark.django_db
def test_columns_of_an_evaluated_group_are_stored_where_its_row_has_them():
    a_group(a_cluster(read_at=None), "billing")
    for moment, more in ((0, {}), (60, {"retry_rate": 0.75})):
        write(at(moment), **more)
    assert GroupState.objects.values(*NUMBERS).get() == NUMBERS | {"retry_rate": 0.75}


def test_volumes_of_whole_minutes_stay_until_the_next_one_is_over(group: ConsumerGroup) -> None:
    write(at(60), recent={group.pk: Recent(0.25, None, {"dlq_day_messages": "part_missing"})})
    write(at(90), recent=None)
    found = GroupState.objects.get()
    assert (found.judged_at, found.retry_share) == (at(90), 0.25)
    assert found.volumes_unknown == {"dlq_day_messages": "part_missing"}


def test_of_a_group_that_is_new_within_a_minute_no_volume_is_known(group: ConsumerGroup) -> None:
    write(at(90), recent=None)
    found = GroupState.objects.get()
    assert (found.retry_share, found.volumes_unknown) == (None, dict(NOTHING_KNOWN.unknown))


def changes() -> list[tuple[object, ...]]:
    return list(StateChange.objects.order_by("at").values_list("at", "before", "after", "rule"))


@pytest.fixture
def group(db: None) -> ConsumerGroup:
    return a_group(a_cluster(read_at=None), "billing")


def test_a_state_lasts_from_run_to_run(group: ConsumerGroup) -> None:
    for moment in (0, 30):
        write(at(moment))
    assert (GroupState.objects.get().since, len(changes())) == (at(0), 1)


def test_a_state_of_before_a_time_without_readings_and_runs_begins_anew_after_it(group: ConsumerGroup) -> None:
    write(at(0))
    write(at(7200), {group.pk: at(40)})
    assert GroupState.objects.get().since == at(7200)
    assert changes()[1:] == [(at(40), "OK", "UNKNOWN", "not_read"), (at(7200), "UNKNOWN", "OK", "caught up")]


def test_a_state_that_is_unknown_after_such_a_time_is_so_since_its_beginning(group: ConsumerGroup) -> None:
    write(at(0))
    write(at(7200), {group.pk: at(40)}, state="UNKNOWN", rule="too_few_readings")
    assert GroupState.objects.get().since == at(40)
    assert changes()[1:] == [(at(40), "OK", "UNKNOWN", "not_read")]


def test_a_state_that_was_unknown_before_such_a_time_goes_on(group: ConsumerGroup) -> None:
    for moment in (0, 7200):
        write(at(moment), {group.pk: at(40)}, state="UNKNOWN", rule="not_read")
    assert (GroupState.objects.get().since, len(changes())) == (at(0), 1)
