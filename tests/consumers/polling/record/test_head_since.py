"""Since when the oldest message that a client holds is the same one, and what it says of its failures."""

import pytest

from consumers.lake.store import Lake
from consumers.models import Assignment, Client, Cluster
from consumers.polling.record.recorder import Recorder
from tests.readings import T0, at, broker, client, group_members, members, owned, reading, row

pytestmark = pytest.mark.django_db

STATUS = {"Orders": {"consume_ok_tps": 0.0, "consume_failed_tps": 0.2, "consume_failed_messages": 3, "consume_rt": 1.5}}


@pytest.fixture
def record(tmp_path):
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    recorder, lake = Recorder.of(cluster), Lake.at(str(tmp_path))

    def record(seconds, cached_min=None, **said):
        held = {"cached_min": cached_min, "cached_max": cached_min, "cached_count": 0 if cached_min is None else 1}
        queues = () if "error" in said else (owned("Orders", "broker-a", 0, **held),)
        found = members(seconds, [group_members("billing", "c1")], [client("billing", "c1", *queues, **said)])
        recorder.record(reading(seconds, broker("broker-a", row("billing", "Orders", 0, 7, 10))), found, lake)

    return record


def head_since():
    return Assignment.objects.get(gone_by=None).head_since


def test_a_head_stands_since_the_reading_that_first_saw_it(record):
    record(0, 7)
    record(15, 7)
    record(30, 7)
    assert head_since() == at(0)


def test_another_oldest_message_is_another_head(record):
    record(0, 7)
    record(15, 8)
    assert head_since() == at(15)


def test_who_holds_nothing_has_no_head(record):
    record(0, 7)
    record(15, None)
    assert head_since() is None


def test_a_head_begins_where_nothing_was_held(record):
    record(0, None)
    record(15, 7)
    assert head_since() == at(15)


def test_silence_leaves_a_head_as_it_is(record):
    record(0, 7)
    record(15, error="timed out")
    record(30, 7)
    assert head_since() == at(0)


def test_a_process_that_started_anew_has_a_head_of_its_own(record):
    record(0, 7, started_at=at(-60))
    record(15, 7, started_at=at(10))
    assert head_since() == at(15)


def test_a_head_of_which_no_beginning_is_stored_stands_since_the_next_word(record):
    record(0, 7)
    Assignment.objects.update(head_since=None)
    record(15, 7)
    assert head_since() == at(15)


def test_what_a_client_says_of_its_failures_is_kept(record):
    record(0, 7, consume_status=STATUS)
    assert Client.objects.get().consume_status == STATUS


def test_its_next_word_takes_the_place_of_the_last_one(record):
    record(0, 7, consume_status=STATUS)
    record(15, 7, consume_status={})
    assert Client.objects.get().consume_status == {}
