"""What a reading leaves in the database and in the lake."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.db import OperationalError

from consumers.lake.reader import files
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.models import Broker, Cluster, GroupTotal, QueueSnapshot, Reading
from consumers.polling.brokers.dispatch_backlog import DispatchBacklog
from consumers.polling.record.keyed_rows import EntityIds
from consumers.polling.record.recorder import Recorder
from consumers.polling.record.totals import Moves
from tests.readings import T0, at, broker, client, group_members, members, owned, reading, row

pytestmark = pytest.mark.django_db

ORDERS = row("billing", "Orders", 0, 7, 10)


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


@pytest.fixture
def cluster():
    return Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)


@pytest.fixture
def recorder(cluster):
    return Recorder.of(cluster)


@pytest.mark.parametrize("error", [OSError(30, "Read-only file system"), pa.ArrowInvalid("no such thing")])
def test_a_lake_that_cannot_be_written_costs_the_rows_nothing_and_the_reading_says_so(
    recorder, lake, monkeypatch, error
):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(Lake, "write", fails)
    said = recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    snapshot = QueueSnapshot.objects.get()
    assert (snapshot.consumer_offset, snapshot.broker_offset) == (7, 10)
    assert said.members["history_error"] == " ".join(str(error).split())
    monkeypatch.undo()
    said = recorder.record(reading(15, broker("broker-a", ORDERS)), None, lake)
    assert "history_error" not in said.members


def test_a_store_of_objects_that_does_not_answer_costs_the_rows_nothing_and_the_reading_says_so(recorder, s3, tmp_path):
    lake = Lake.at(s3.location(tmp_path.name, max_attempts=1))
    s3.fail()
    said = recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    assert QueueSnapshot.objects.get().consumer_offset == 7
    assert "AWS Error NETWORK_CONNECTION" in said.members["history_error"]
    s3.serve()
    said = recorder.record(reading(15, broker("broker-a", ORDERS)), None, lake)
    assert "history_error" not in said.members
    assert files(lake, "readings", "prod", T0, at(60)) == [
        lake.path(f"{hour_folder('readings', 'prod', at(15))}/{file_name(at(15))}")
    ]


def test_without_a_lake_the_reading_says_that_its_history_is_missing(recorder):
    said = recorder.record(reading(0, broker("broker-a", ORDERS)), None, None)
    assert said.members["history_error"] == "the lake's disk is too full"


def test_a_queue_is_stored_with_its_offsets(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    snapshot = QueueSnapshot.objects.get(group__name="billing", queue__topic__name="Orders", queue__broker="broker-a")
    assert (snapshot.consumer_offset, snapshot.broker_offset, snapshot.min_offset) == (7, 10, 0)


def test_only_rows_that_changed_are_rewritten(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS, row("billing", "Orders", 1, 1, 1))), None, lake)
    recorder.record(reading(15, broker("broker-a", ORDERS, row("billing", "Orders", 1, 1, 2))), None, lake)
    changed = dict(QueueSnapshot.objects.values_list("queue__queue_id", "changed_at"))
    assert changed == {0: at(0), 1: at(15)}


def test_a_fresh_process_knows_what_is_stored(recorder, cluster, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    Recorder.of(cluster).record(reading(15, broker("broker-a", ORDERS)), None, lake)
    assert QueueSnapshot.objects.get().changed_at == at(0)


def test_the_group_total_is_the_sum_of_its_queues(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS, row("billing", "Orders", 1, 0, 5))), None, lake)
    total = GroupTotal.objects.get(group__name="billing")
    assert (total.lag_messages, total.queues, total.unknown_reason) == (8, 2, None)


def test_a_dead_broker_makes_its_groups_lag_unknown_and_keeps_what_the_other_says(recorder, lake):
    both = broker("broker-a", ORDERS), broker("broker-b", row("billing", "Orders", 0, 0, 100))
    recorder.record(reading(0, *both), None, lake)
    recorder.record(reading(15, both[0], broker("broker-b", error="connection refused")), None, lake)
    total = GroupTotal.objects.get(group__name="billing")
    assert (total.lag_messages, total.lag_messages_at_least, total.unknown_queues) == (None, 3, 1)
    assert total.unknown_reason == "broker_unreachable:broker-b: connection refused"
    assert total.last_good_at == at(0)


def test_a_dead_broker_does_not_touch_groups_that_are_not_on_it(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS), broker("broker-b", row("audit", "A", 0, 0, 1))), None, lake)
    recorder.record(reading(15, broker("broker-a", ORDERS), broker("broker-b", error="refused")), None, lake)
    assert GroupTotal.objects.get(group__name="billing").lag_messages == 3


def test_a_broker_that_was_never_read_may_hold_queues_of_every_group(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS), broker("broker-b", error="refused")), None, lake)
    total = GroupTotal.objects.get(group__name="billing")
    assert (total.lag_messages, total.lag_messages_at_least, total.unknown_queues) == (None, 3, None)
    assert total.unknown_reason == "broker_never_read:broker-b: refused"


def test_a_broker_that_is_back_heals_the_total(recorder, lake):
    good = broker("broker-b", row("billing", "Orders", 0, 0, 100))
    for seconds, part in ((0, good), (15, broker("broker-b", error="refused")), (30, good)):
        recorder.record(reading(seconds, part), None, lake)
    total = GroupTotal.objects.get()
    assert (total.lag_messages, total.unknown_reason, total.last_good_at) == (100, None, None)


def test_the_age_of_a_brokers_figures_is_its_last_good_reading(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    for seconds in (15, 30):
        recorder.record(reading(seconds, broker("broker-a", error="silent")), None, lake)
    row_ = Broker.objects.get()
    assert (row_.reachable, row_.last_read_at, row_.failing_since, row_.error) == (False, at(0), at(15), "silent")


def test_a_process_that_ends_before_the_sums_are_written_leaves_no_old_sum_as_one_of_now(recorder, lake, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    monkeypatch.setattr("consumers.polling.record.recorder.write_totals", killed)
    with pytest.raises(Killed):
        recorder.record(reading(15, broker("broker-a", row("billing", "Orders", 0, 7, 100))), None, lake)
    assert GroupTotal.objects.get().lag_messages == 3
    assert Broker.objects.get().last_read_at == at(0)


def test_a_queue_that_its_topic_lost_is_forgotten(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS, row("billing", "Orders", 1, 0, 5))), None, lake)
    lists = (["billing"], {"Orders": 1})
    recorder.record(reading(15, broker("broker-a", ORDERS, lists=lists)), None, lake)
    assert list(QueueSnapshot.objects.values_list("queue__queue_id", flat=True)) == [0]


def test_a_broadcasting_groups_queue_turns_unknown_when_its_offset_leaves_the_broker(recorder, lake):
    joined = members(0, [group_members("billing", "c1", message_model="BROADCASTING")])
    recorder.record(reading(0, broker("broker-a", ORDERS)), joined, lake)
    recorder.record(reading(15, broker("broker-a")), None, lake)
    assert QueueSnapshot.objects.get().unknown_reason == "not_reported"
    assert GroupTotal.objects.get().lag_messages is None


def test_dead_letters_are_counted_from_the_groups_own_topic(recorder, lake):
    dead = {"topic": "%DLQ%billing", "queue_id": 0, "broker_offset": 12, "min_offset": 2}
    recorder.record(reading(0, broker("broker-a", ORDERS, dead_letters=[dead])), None, lake)
    assert GroupTotal.objects.get().dlq_messages == 10


def test_dead_letters_may_be_on_the_second_broker_only(recorder, lake):
    dead = {"topic": "%DLQ%billing", "queue_id": 0, "broker_offset": 12, "min_offset": 2}
    recorder.record(reading(0, broker("broker-a", ORDERS), broker("broker-b", dead_letters=[dead])), None, lake)
    assert GroupTotal.objects.get().dlq_messages == 10


def test_dead_letters_are_unknown_while_a_broker_is_silent(recorder, lake):
    recorder.record(reading(0, broker("broker-a", ORDERS), broker("broker-b", error="silent")), None, lake)
    assert GroupTotal.objects.get().dlq_messages is None


def test_the_pull_offset_comes_from_the_owner(recorder, lake):
    holds = client("billing", "c1", owned("Orders", "broker-a", 0, cached_min=7, cached_max=8, cached_count=2))
    recorder.record(reading(0, broker("broker-a", ORDERS)), members(0, [group_members("billing", "c1")], [holds]), lake)
    assert QueueSnapshot.objects.get().pull_offset == 9


def test_the_reading_is_in_the_lake_whole(recorder, lake, tmp_path):
    recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    (file,) = tmp_path.rglob("*.parquet")
    assert file.relative_to(tmp_path).parts[:4] == ("readings", "cluster=prod", "date=2026-03-01", "hour=02")
    (stored,) = pq.read_table(file, partitioning=None).to_pylist()
    assert (stored["group"], stored["consumer_offset"], stored["taken_at"]) == ("billing", 7, at(0))


def test_the_next_reading_heals_a_crash_between_the_two_stores(recorder, cluster, lake, tmp_path):
    class Crash(Exception):
        pass

    def crash(*args):
        raise Crash

    recorder._make_entities = crash
    with pytest.raises(Crash):
        recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    assert not QueueSnapshot.objects.exists()
    Recorder.of(cluster).record(reading(15, broker("broker-a", ORDERS)), None, lake)
    assert QueueSnapshot.objects.get().consumer_offset == 7
    assert len(list(tmp_path.rglob("*.parquet"))) == 2


def test_a_reading_that_read_nothing_is_recorded_with_its_reason(recorder, lake, tmp_path):
    recorder.record(reading(0, broker("broker-a", error="connection refused")), None, lake)
    stored = Reading.objects.get()
    assert (stored.complete, stored.queues) == (False, 0)
    assert stored.brokers == [
        {"name": "broker-a", "read": False, "error": "connection refused", "read_from": None, "topics_appeared": []}
        | dict.fromkeys(("calls", "bytes", "seconds"))
    ]
    assert list(tmp_path.rglob("*.parquet")) == []


def test_the_last_good_time_stays_through_several_bad_readings(recorder, lake):
    good = broker("broker-a", ORDERS), broker("broker-b", row("billing", "Orders", 0, 0, 100))
    recorder.record(reading(0, *good), None, lake)
    for seconds, reason in ((15, "refused"), (30, "silent")):
        recorder.record(reading(seconds, good[0], broker("broker-b", error=reason)), None, lake)
    total = GroupTotal.objects.get()
    assert (total.unknown_reason, total.last_good_at) == ("broker_unreachable:broker-b: silent", at(0))


def test_a_broker_that_is_back_is_no_longer_failing(recorder, lake):
    for seconds, part in ((0, broker("broker-a", error="refused")), (15, broker("broker-a", ORDERS))):
        recorder.record(reading(seconds, part), None, lake)
    assert (Broker.objects.get().failing_since, Broker.objects.get().error) == (None, None)


def test_what_another_process_made_meanwhile_is_found_and_not_made_again(cluster, lake):
    early, late = Recorder.of(cluster), Recorder.of(cluster)
    early.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    late.record(reading(15, broker("broker-a", ORDERS, row("billing", "Orders", 1, 0, 5))), None, lake)
    assert QueueSnapshot.objects.filter(group__name="billing", queue__topic__name="Orders").count() == 2


def test_an_offset_that_went_back_to_what_it_was_before_another_process_polled_is_stored(cluster, lake):
    worker, by_hand = Recorder.of(cluster), Recorder.of(cluster)
    worker.record(reading(0, broker("broker-a", row("billing", "Orders", 0, 5, 10))), None, lake)
    by_hand.record(reading(15, broker("broker-a", row("billing", "Orders", 0, 7, 10))), None, lake)
    worker.record(reading(30, broker("broker-a", row("billing", "Orders", 0, 5, 10))), None, lake)
    assert QueueSnapshot.objects.get().consumer_offset == 5


def test_a_queue_that_another_process_forgot_is_stored_again(cluster, lake):
    worker = Recorder.of(cluster)
    worker.record(reading(0, broker("broker-a", ORDERS)), None, lake)
    Recorder.of(cluster).record(reading(15, broker("broker-a", lists=([], {}))), None, lake)
    assert not QueueSnapshot.objects.exists()
    worker.record(reading(30, broker("broker-a", ORDERS)), None, lake)
    assert QueueSnapshot.objects.count() == 1


MIB = 2**20


@pytest.mark.parametrize(("behind_mib", "lag"), [(0, 3), (4, 3), (5, None)])
def test_a_lag_is_a_lower_bound_once_its_broker_is_behind_by_more_than_the_limit(recorder, lake, behind_mib, lag):
    recorder.record(reading(0, broker("broker-a", ORDERS, dispatch=DispatchBacklog(behind_mib * MIB))), None, lake)
    total = GroupTotal.objects.get(group__name="billing")
    assert (total.lag_messages, total.lag_messages_at_least) == (lag, 3)


def test_a_reading_tells_how_far_its_brokers_were_behind(recorder, lake):
    parts = broker("broker-a", ORDERS, dispatch=DispatchBacklog(64 * MIB)), broker("broker-b")
    recorder.record(reading(0, *parts), None, lake)
    told = [one.get("dispatch_behind_bytes") for one in Reading.objects.get().brokers]
    assert told == [64 * MIB, None]


def test_a_lag_is_exact_again_once_the_broker_has_caught_up(recorder, lake):
    for seconds, behind in ((0, 64 * MIB), (15, 0)):
        recorder.record(reading(seconds, broker("broker-a", ORDERS, dispatch=DispatchBacklog(behind))), None, lake)
    total = GroupTotal.objects.get(group__name="billing")
    assert (total.lag_messages, total.unknown_reason) == (3, None)


def test_a_broker_that_does_not_say_how_far_it_is_behind_keeps_its_lags_and_the_reason(recorder, lake):
    silent = broker("broker-a", ORDERS, dispatch=DispatchBacklog(None, "no permission"))
    recorder.record(reading(0, silent), None, lake)
    row = Broker.objects.get()
    assert GroupTotal.objects.get(group__name="billing").lag_messages == 3
    assert (row.dispatch_behind_bytes, row.dispatch_error) == (None, "no permission")


@pytest.mark.parametrize(
    ("owner", "name"), [(EntityIds, "make_queues"), (Moves, "note")], ids=["names are taken back", "rows are written"]
)
def test_a_reading_that_the_database_did_not_take_is_forgotten(recorder, lake, monkeypatch, owner, name):
    recorder.record(reading(0, broker("broker-a", ORDERS)), None, lake)

    def fail(*_, **__):
        raise OperationalError("the connection is lost")

    gone = ORDERS | {"broker_offset": None, "unknown_reason": "topic_gone"}
    refused = reading(15, broker("broker-a", gone, row("fresh", "Orders", 0, 1, 10)))
    monkeypatch.setattr(owner, name, fail)
    with pytest.raises(OperationalError):
        recorder.record(refused, None, lake)
    monkeypatch.undo()

    recorder.record(reading(30, broker("broker-a", ORDERS, row("fresh", "Orders", 0, 1, 10))), None, lake)
    found = QueueSnapshot.objects.order_by("group__name").values_list(
        "group__name", "consumer_offset", "unknown_reason"
    )
    assert list(found) == [("billing", 7, None), ("fresh", 1, None)]
