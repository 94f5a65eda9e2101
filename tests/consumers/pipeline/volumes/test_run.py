"""A whole run over readings of a group that fails messages: its windows and its state have the volumes."""

import pytest

from consumers.lake.store import Lake
from consumers.models import GroupBroker, GroupState, GroupWindow
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.words.reasons import volume_words
from tests.pipeline_rows import at, put, rows
from tests.world import a_cluster, a_group, a_queue, a_reading

pytestmark = pytest.mark.django_db

READINGS = range(-4, 40)  # one in 15 s; the retry topic is there from 60 s on, the dead-letter topic from 300 s
VOLUMES = ("into_retry", "out_of_retry", "into_dlq", "consumed")


@pytest.fixture
def lake(tmp_path):
    lake = Lake.at(str(tmp_path))
    put(lake, "readings", rows([(10 * n, 20 * n) for n in range(44)], start=-60))
    retry = {"topic": "%RETRY%billing", "kind": "retry"}
    put(lake, "readings", rows([(n, 2 * n + 1) for n in range(36)], start=60, **retry), prefix="retry-")
    put(
        lake,
        "dead_letters",
        [
            {"cluster": "prod", "taken_at": at(300 + 15 * n), "topic": "%DLQ%billing", "broker": "broker-a"}
            | {"queue_id": 0, "broker_offset": 3 + n, "min_offset": 0}
            for n in range(20)
        ],
    )
    return lake


@pytest.fixture
def group():
    cluster = a_cluster(read_at=None)
    group = a_group(cluster)
    a_queue(cluster, "Orders")
    appeared = {60: ["%RETRY%billing"], 300: ["%DLQ%billing"]}
    for n in READINGS:
        entry = {"name": "broker-a", "read": True, "error": None, "topics_appeared": appeared.get(15 * n, [])}
        a_reading(cluster, at(15 * n), brokers=[entry])
    configured = {"configured": True, "retry_permissions": {"%RETRY%billing": 6}, "dlq_permission": 6}
    GroupBroker.objects.create(group=group, broker="broker-a", changed_at=at(300), **configured)
    return group


def found(group, step):
    rows = GroupWindow.objects.filter(group=group, step_seconds=step).order_by("start")
    return {row.start: tuple(getattr(row, name) for name in VOLUMES) for row in rows}


# Before, during and after the minute in which the dead-letter topic appears.
MINUTES = {
    240: (8, 4, None, 40),
    300: (8, 4, 6, 40),
    360: (8, 4, 4, 40),
}


def test_it_counts_what_was_retried_and_what_died(without_spark, lake, group):
    run(without_spark, lake, ["prod"], at(0), at(600), Durations())

    minutes = found(group, 60)
    assert {seconds: minutes[at(seconds)] for seconds in MINUTES} == MINUTES
    assert [minutes[at(seconds)][:2] for seconds in (0, 60)] == [(None, None), (7, 3)]
    assert {window[3] for window in minutes.values()} == {40}
    reasons = GroupWindow.objects.get(group=group, step_seconds=60, start=at(0)).volumes_unknown
    assert reasons == {
        "into_retry": "retry_unread",
        "out_of_retry": "retry_unread",
        "into_dlq": "dead_letters_unread",
    }
    assert found(group, 600) == {at(0): (None, None, None, 400)}
    stored = GroupState.objects.get(group=group).volumes_unknown
    assert {name: volume_words(reason) for name, reason in stored.items()} == {
        "retry_share": "no data before 2026-03-01 02:01:00 UTC: ≥ 71 into retry, ≥ 400 consumed",
        "dlq_day_messages": "no data before 2026-03-01 02:05:00 UTC: ≥ 22",
    }


def test_a_range_in_pieces_that_overlap_gives_the_same_volumes(without_spark, lake, group):
    run(without_spark, lake, ["prod"], at(240), at(390), Durations())
    run(without_spark, lake, ["prod"], at(360), at(420), Durations())
    assert found(group, 60) == {at(seconds): volumes for seconds, volumes in MINUTES.items()}
