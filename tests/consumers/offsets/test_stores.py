"""The stores side by side: what each says of a queue, and why one says nothing."""

import pytest

from consumers.offsets.stores import group_offsets
from tests.store_rows import a_client, a_file_row, a_finding, a_problem, add_stored, an_offset_file, an_owner
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def lake(settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)


@pytest.fixture
def group():
    cluster = a_cluster(offset_files="/store/config/consumerOffset.json")
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 100, 150)
    a_client(group)
    return group


def seen(group, **query):
    [row] = group_offsets(group, now=NOW, **query).rows
    return {kind: (store.offset, store.at, store.source, store.finding) for kind, store in stores(row).items()}


def stores(row):
    return {store.kind: store for store in row.stores}


def test_every_store_says_its_offset_with_its_time_and_source(group):
    an_owner(group, a_queue(group.cluster), (112, 139, 28))
    an_offset_file(group.cluster, a_file_row(offset=90))
    assert seen(group) == {
        "broker_memory": (100, ago(5), "broker-a", None),
        "broker_file": (90, ago(30), "/store/config/consumerOffset.json", None),
        "client_memory": (112, ago(5), "c1", None),
    }


def test_it_says_when_a_file_was_written_and_how_often_its_broker_does(group):
    group.cluster.brokers.update(flush_offsets_ms=15_000)
    an_offset_file(group.cluster, a_file_row(offset=90))
    [row] = group_offsets(group, now=NOW).rows
    file, memory = stores(row)["broker_file"], stores(row)["broker_memory"]
    assert (file.persisted_at, file.usual_period_seconds) == (ago(32), 15.0)
    assert (memory.persisted_at, memory.usual_period_seconds) == (None, 5.0)


def test_how_often_a_broker_writes_its_file_is_not_guessed(group):
    an_offset_file(group.cluster, a_file_row(offset=90))
    [row] = group_offsets(group, now=NOW).rows
    assert stores(row)["broker_file"].usual_period_seconds is None


def test_members_that_commit_at_another_interval_say_so(group):
    a_client(group, "c2", settings={"persistConsumerOffsetInterval": "60000"})
    [row] = group_offsets(group, now=NOW).rows
    assert stores(row)["broker_memory"].usual_period_seconds == 60.0


def test_lag_is_counted_from_each_store(group):
    an_owner(group, a_queue(group.cluster), (112, 139, 28))
    an_offset_file(group.cluster, a_file_row(offset=90))
    [row] = group_offsets(group, now=NOW).rows
    assert {kind: store.lag_messages for kind, store in stores(row).items()} == {
        "broker_memory": 50,
        "broker_file": 60,
        "client_memory": 38,
    }


def test_what_is_wrong_with_a_row_of_a_file_stands_beside_its_offset(group):
    an_offset_file(group.cluster, a_file_row(offset=90, finding=a_finding("it went back")), from_backup=True)
    backup = "read from the backup file, which is one write older"
    assert seen(group)["broker_file"][0] == 90
    assert seen(group)["broker_file"][3] == f"it went back; {backup}"


def test_a_file_that_cannot_be_read_any_more_keeps_what_it_said_with_the_reason(group):
    an_offset_file(group.cluster, a_file_row(offset=90), error=a_problem("permission denied"))
    assert seen(group)["broker_file"] == (
        90,
        ago(30),
        "/store/config/consumerOffset.json",
        "last content before a failed read: permission denied",
    )


def test_a_file_that_was_never_read_has_no_offset_but_a_reason(group):
    an_offset_file(group.cluster, read_at=None, error=a_problem("there is no such file"))
    assert seen(group)["broker_file"] == (None, None, "/store/config/consumerOffset.json", "there is no such file")


def test_a_file_without_the_queue_says_so(group):
    an_offset_file(group.cluster, a_file_row(offset=7, group="shipping"))
    assert seen(group)["broker_file"][3] == "the file has no offset of this queue"


def test_a_file_whose_rows_are_gone_is_not_taken_for_an_empty_one(group):
    file = an_offset_file(group.cluster, a_file_row(offset=90))
    file.read_at = ago(90_000)
    file.save()
    assert seen(group)["broker_file"][::3] == (None, "the content of the file is no longer retained")


def test_only_the_newest_reading_of_a_file_counts(group):
    an_offset_file(group.cluster, a_file_row("Refunds", offset=7), path="/other", read_at=ago(90))
    file = an_offset_file(group.cluster, a_file_row(offset=80), path="/again", read_at=ago(90))
    newest = {"cluster": "prod", "taken_at": ago(30), "kind": "broker_file", "source": "/again"}
    add_stored(group.cluster, ago(30), [a_file_row(offset=90, **newest)])
    file.read_at = ago(30)
    file.save()
    rows = {row.topic: row for row in group_offsets(group, now=NOW).rows}
    assert [(s.source, s.offset) for s in rows["Orders"].of_kind("broker_file")] == [("/again", 90)]
    assert [(s.source, s.offset) for s in rows["Refunds"].of_kind("broker_file")] == [("/other", 7)]


def test_without_offset_files_it_says_how_to_name_them(group):
    group.cluster.offset_files = ""
    assert seen(group)["broker_file"][3] == (
        "no offset files are configured. To name them: manage.py cluster add prod --offset-files GLOB"
    )


def test_a_broker_whose_file_was_not_found_says_so(group):
    an_offset_file(group.cluster, broker="broker-z")
    assert seen(group)["broker_file"][::3] == (None, "no offset file of broker-a was found")


def test_a_file_that_tells_no_broker_has_rows_of_its_own(group):
    an_offset_file(group.cluster, a_file_row(offset=90, broker=None), broker=None)
    found = {row.broker: stores(row)["broker_file"] for row in group_offsets(group, now=NOW).rows}
    assert (found[None].offset, found[None].finding) == (90, None)
    assert (found["broker-a"].offset, found["broker-a"].finding) == (None, "the file does not name its broker")


def test_a_queue_that_only_a_file_knows_is_there(group):
    an_offset_file(group.cluster, a_file_row("Gone", 3, 7))
    gone = group_offsets(group, now=NOW, topic="Gone").rows
    assert [(row.topic, row.broker, row.queue_id, row.kind) for row in gone] == [("Gone", "broker-a", 3, "normal")]
    assert stores(gone[0])["broker_memory"].finding == "the broker's memory has no offset of this group"
    assert gone[0].unknown["broker_offset"] == "the broker's memory has no offset of this group"


def test_a_queue_that_is_held_but_not_read_as_the_groups_is_there(group):
    held = a_queue(group.cluster, "Refunds")
    a_snapshot(a_group(group.cluster, "shipping"), held, 3, 40)
    an_owner(group, held, (30, 39, 10))
    [row] = group_offsets(group, now=NOW, topic="Refunds").rows
    assert (row.broker_offset, stores(row)["client_memory"].lag_messages) == (40, 10)


def test_rows_that_name_no_queue_are_left_to_the_files_findings(group):
    an_offset_file(
        group.cluster, a_file_row(queue_id=None, offset=1), findings=[{"code": "x.y", "where": None, "params": {}}]
    )
    found = group_offsets(group, now=NOW)
    assert [row.queue_id for row in found.rows] == [0]
    assert [file.findings for file in found.files] == [
        [{"name": "x", "code": "x.y", "where": None, "params": {}, "sentence": "x.y"}]
    ]


@pytest.mark.parametrize(
    ("fields", "finding"),
    [
        ({"running_info_at": None}, "not sampled"),
        ({}, "no member owns it"),
        ({"gone_by": ago(5)}, "the group has no member"),
    ],
)
def test_a_queue_that_nobody_holds_says_why_no_client_speaks_of_it(group, fields, finding):
    group.clients.update(**fields)
    group.online = "gone_by" not in fields
    assert seen(group)["client_memory"] == (None, None, None, finding)


def test_a_client_that_fell_silent_keeps_its_last_words_with_their_time(group):
    group.clients.update(running_info_error="timed out")
    an_owner(group, a_queue(group.cluster), (112, 139, 28), last_seen=ago(200))
    silent = "no answer to the last request: timed out"
    assert seen(group)["client_memory"] == (112, ago(200), "c1", silent)


def test_a_client_without_an_offset_in_its_memory_says_so(group):
    an_owner(group, a_queue(group.cluster), None)
    assert seen(group)["client_memory"][::3] == (None, "the client's memory has no offset of this queue")


def test_a_broker_that_is_not_read_has_no_offset_in_memory_but_its_file_speaks(group):
    group.cluster.brokers.all().delete()
    a_dead_broker(group.cluster, "broker-a", since=ago(300))
    an_offset_file(group.cluster, a_file_row(offset=90))
    found = seen(group)
    assert found["broker_memory"] == (None, ago(300), "broker-a", "broker-a could not be read: connection refused")
    assert found["broker_file"][0] == 90


def test_an_offset_ahead_of_the_broker_is_shown_with_the_anomaly(group):
    a_snapshot(
        group,
        a_queue(group.cluster, "Refunds"),
        9,
        5,
        unknown_reason="consumer_ahead",
    )
    [row] = group_offsets(group, now=NOW, topic="Refunds").rows
    memory = stores(row)["broker_memory"]
    assert (memory.offset, memory.lag_messages) == (9, None)
    assert memory.finding == "the consumer offset is ahead of the broker offset"


def test_the_number_of_queries_does_not_grow_with_queues(group, django_assert_num_queries):
    for queue_id in range(1, 20):
        queue = a_queue(group.cluster, "Orders", queue_id)
        a_snapshot(group, queue, 100, 150)
        an_owner(group, queue, (112, 139, 28))
    an_offset_file(group.cluster, *(a_file_row(queue_id=queue_id, offset=90) for queue_id in range(20)))
    with django_assert_num_queries(8):
        assert len(group_offsets(group, now=NOW).rows) == 20
