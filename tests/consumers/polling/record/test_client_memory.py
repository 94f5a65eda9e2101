"""What clients say of the queues that they hold stands beside their intervals, as of the last time they spoke."""

import pytest

from consumers.lake.store import Lake
from consumers.models import Assignment, Cluster
from consumers.polling.record.intervals import MEMORY
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, at, broker, client, group_members, members, owned, reading, row

pytestmark = pytest.mark.django_db

HELD = {
    "commit_offset": 7,
    "cached_min": 7,
    "cached_max": 9,
    "cached_count": 2,
    "cached_mib": 1,
    "locked": True,
    "last_pull_at": at(-1),
    "last_consume_at": at(-2),
    "last_lock_at": at(-3),
}


@pytest.fixture
def record(tmp_path):
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    recorder, lake = Recorder.of(cluster), Lake.at(str(tmp_path))
    rows = [row("billing", "Orders", queue_id, 7, 10) for queue_id in range(2)]

    def record(seconds, *queues, error=None):
        said = client("billing", "c1", *queues, error=error)
        found = members(seconds, [group_members("billing", "c1")], [said])
        recorder.record(reading(seconds, broker("broker-a", *rows)), found, lake)

    return record


def memory(queue_id=0):
    return Assignment.objects.filter(queue__queue_id=queue_id).values(*MEMORY, "seen_since", "last_seen").get()


def test_what_a_client_says_of_a_queue_is_kept(record):
    record(0, owned("Orders", "broker-a", 0, **HELD))
    assert memory() == HELD | {"dropped": False, "seen_since": at(0), "last_seen": at(0)}


def test_what_it_says_next_takes_the_place_of_it_and_the_interval_goes_on(record):
    record(0, owned("Orders", "broker-a", 0, **HELD))
    record(15, owned("Orders", "broker-a", 0, **HELD | {"commit_offset": 8, "cached_min": None, "cached_max": None}))
    expected = HELD | {"commit_offset": 8, "cached_min": None, "cached_max": None, "dropped": False}
    assert memory() == expected | {"seen_since": at(0), "last_seen": at(15)}


def test_words_that_stay_the_same_are_as_of_the_last_time(record):
    record(0, owned("Orders", "broker-a", 0, **HELD))
    record(15, owned("Orders", "broker-a", 0, **HELD))
    assert memory() == HELD | {"dropped": False, "seen_since": at(0), "last_seen": at(15)}


def test_a_client_that_does_not_answer_leaves_its_words_as_old_as_they_are(record):
    record(0, owned("Orders", "broker-a", 0, **HELD))
    record(15, error="timed out")
    assert memory() == HELD | {"dropped": False, "seen_since": at(0), "last_seen": at(0)}


def test_each_queue_keeps_its_own_words(record):
    record(0, owned("Orders", "broker-a", 0, **HELD), owned("Orders", "broker-a", 1, **HELD))
    record(15, owned("Orders", "broker-a", 0, **HELD), owned("Orders", "broker-a", 1, **HELD | {"commit_offset": 9}))
    assert (memory(0)["commit_offset"], memory(1)["commit_offset"]) == (7, 9)
    assert memory(0)["last_seen"] == memory(1)["last_seen"] == at(15)


def test_the_number_of_statements_does_not_grow_with_queues(record, django_assert_max_num_queries):
    record(0, owned("Orders", "broker-a", 0, **HELD))
    with django_assert_max_num_queries(60):
        record(15, *(owned("Orders", "broker-a", queue_id, **HELD | {"commit_offset": 8}) for queue_id in range(2)))
