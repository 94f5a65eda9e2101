"""What a crash would repeat and where a member would start, from the rows; broadcasting and popping groups."""

import pytest

from consumers.models import QueueSample
from consumers.offsets.stores import group_offsets
from consumers.stores.start import LAST_END
from tests.store_rows import a_client, a_file_row, a_problem, an_offset_file, an_owner
from tests.world import NOW, a_broker, a_cluster, a_dead_broker, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db
NEVER = {"unknown_reason": "never_committed"}


@pytest.fixture(autouse=True)
def lake(settings, tmp_path):
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)


@pytest.fixture
def group():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster, consume_from_where="CONSUME_FROM_LAST_OFFSET")
    a_client(group)
    return group


def the_row(group):
    [row] = group_offsets(group, now=NOW).rows
    return row


def ends(row):
    return row.exposure.low, row.exposure.high, row.exposure.finished_out_of_order


def start(row):
    return row.would_start_at, row.would_start_rule, row.unknown.get("would_start_at")


def test_a_crash_repeats_from_the_committed_offset_to_what_is_held(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 100, 150)
    an_owner(group, queue, (112, 139, 23))
    an_offset_file(group.cluster, a_file_row(offset=90))
    row = the_row(group)
    assert ends(row) == (12, 40, 5)
    assert (row.exposure.broker_dies, row.exposure.both_die_low, row.exposure.both_die_high) == (0, 12, 50)
    assert row.exposure.as_of == ago(5)
    assert not [name for name in row.unknown if name.startswith("exposure.")]


def test_words_of_a_client_that_are_too_old_say_nothing_about_now(group):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 100, 150)
    an_owner(group, queue, (112, 139, 23), last_seen=ago(46))
    row = the_row(group)
    assert ends(row) == (None, None, None)
    assert row.unknown["exposure.high"] == "c1 last reported its cached messages 46 s ago: older than 45 s is too old"


def test_on_a_broker_that_is_not_read_only_the_file_bounds_what_comes_again(group):
    group.cluster.brokers.all().delete()
    a_dead_broker(group.cluster, "broker-a")
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 100, 150)
    an_owner(group, queue, (112, 139, 28))
    an_offset_file(group.cluster, a_file_row(offset=90))
    row = the_row(group)
    assert (ends(row), row.exposure.both_die_high) == ((None, None, 0), 50)
    assert row.unknown["exposure.low"] == "broker-a could not be read: connection refused"


@pytest.mark.parametrize(
    ("consumer", "broker", "fields", "expected"),
    [
        (100, 150, {}, (100, "the committed offset", None)),
        (100, 150, {"min_offset": 120}, (120, "the committed offset, moved up to the min offset", None)),
        (None, 0, NEVER, (0, "the queue is empty: every start is 0", None)),
        (None, 150, {**NEVER, "min_offset": 40}, (150, "last offset: the end of the queue", None)),
    ],
)
def test_a_member_starts_at_the_committed_offset_or_by_its_rule(group, consumer, broker, fields, expected):
    a_snapshot(group, a_queue(group.cluster), consumer, broker, **fields)
    assert start(the_row(group)) == expected


def test_where_only_the_broker_can_tell_the_start_is_unknown_until_it_was_asked(group):
    a_snapshot(group, a_queue(group.cluster), None, 150, **NEVER)
    row = the_row(group)
    assert (row.would_start_at, row.never_committed) == (None, True)
    assert row.unknown["would_start_at"].startswith("the broker was not asked")


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ({"start_offset": 0, "start_rule": "in memory"}, (0, "in memory", None)),
        ({"start_rule": "timestamp", "start_error": "no permission"}, (None, "timestamp", "no permission")),
    ],
)
def test_the_brokers_own_answer_says_where_a_member_would_start(group, sample, expected):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, None, 150, **NEVER)
    QueueSample.objects.create(group=group, queue=queue, offset=None, asked_at=ago(60), **sample)
    assert start(the_row(group)) == expected


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ({"start_offset": 100, "start_rule": LAST_END}, (150, "last offset: the end of the queue", None)),
        ({"start_offset": 100, "start_rule": "timestamp"}, (100, "timestamp", None)),
        ({"start_offset": 10, "start_rule": "timestamp"}, (40, "timestamp, moved up to the min offset", None)),
    ],
)
def test_an_answer_from_a_while_ago_moves_with_the_ends_of_the_queue(group, sample, expected):
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, None, 150, min_offset=40, **NEVER)
    QueueSample.objects.create(group=group, queue=queue, offset=None, asked_at=ago(600), **sample)
    assert start(the_row(group)) == expected


def test_a_queue_whose_offset_is_out_of_order_has_no_known_start(group):
    ahead = "the consumer offset is ahead of the broker offset"
    a_snapshot(group, a_queue(group.cluster), 9, 5, unknown_reason=ahead)
    assert start(the_row(group)) == (None, "the committed offset", ahead)


def test_a_group_with_a_store_of_its_own_goes_on_from_nothing_that_is_seen_here(group):
    group.outside_store = "OffsetsInRedis"
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 100, 150)
    an_owner(group, queue, (112, 139, 23))
    row, why = the_row(group), "OffsetsInRedis stores its offsets, not the brokers"
    assert (ends(row), row.would_start_at) == ((None, None, None), None)
    assert {row.unknown["exposure.low"], row.unknown["would_start_at"]} == {why}
    [memory] = row.of_kind("broker_memory")
    assert (memory.offset, memory.finding) == (100, why)


def test_each_broadcasting_client_has_an_offset_and_a_lag_of_its_own(group):
    group.message_model = "BROADCASTING"
    group.cluster.offset_files = "/clients/*/*/offsets.json"
    a_client(group, "c2")
    queue = a_queue(group.cluster)
    a_snapshot(group, queue, 90, 150)
    an_owner(group, queue, (112, 139, 28))
    an_owner(group, queue, commit=90, client_id="c2")
    file = {"kind": "consumer_file", "group_name": "billing"}
    an_offset_file(group.cluster, a_file_row(offset=110, client_id="c1"), path="/c/c1", client_id="c1", **file)
    an_offset_file(group.cluster, path="/c/c2", client_id="c2", error=a_problem("it is cut off"), **file)

    found = group_offsets(group, now=NOW)

    [row] = found.rows
    assert found.is_broadcasting
    memory = row.of_kind("client_memory")
    assert [(s.client_id, s.offset, s.lag_messages) for s in memory] == [("c1", 112, 38), ("c2", 90, 60)]
    files = row.of_kind("consumer_file")
    assert [(s.client_id, s.offset, s.finding) for s in files] == [("c1", 110, None), ("c2", None, "it is cut off")]
    assert row.of_kind("broker_file") == []
    assert row.unknown["exposure.low"] == row.unknown["would_start_at"]
    assert row.unknown["exposure.low"] == "broadcasting: each member continues from its own file"


def test_a_broadcasting_group_without_a_file_says_so(group):
    group.message_model, group.cluster.offset_files = "BROADCASTING", "/clients/*/*/offsets.json"
    a_snapshot(group, a_queue(group.cluster), 90, 150)
    [store] = the_row(group).of_kind("consumer_file")
    assert (store.offset, store.finding) == (None, "no offset file of this group's clients was found")


def test_a_file_that_a_client_left_behind_is_nobodys_lag(group):
    group.message_model, group.cluster.offset_files = "BROADCASTING", "/clients/*/*/offsets.json"
    a_snapshot(group, a_queue(group.cluster), 90, 150)
    left = {"code": "left_behind", "where": None, "params": {"at": "2026-03-01 01:00:00 UTC"}}
    fields = {"kind": "consumer_file", "group_name": "billing", "client_id": "gone"}
    an_offset_file(group.cluster, a_file_row(offset=20, client_id="gone"), path="/c/gone", findings=[left], **fields)
    [store] = the_row(group).of_kind("consumer_file")
    assert (store.offset, store.lag_messages) == (20, None)


def test_files_of_other_groups_clients_are_not_this_groups(group):
    a_snapshot(group, a_queue(group.cluster), 90, 150)
    an_offset_file(group.cluster, path="/c/x", kind="consumer_file", group_name="shipping", client_id="x")
    an_offset_file(group.cluster, path="/c/y", kind="consumer_file", group_name="billing", client_id="y")
    assert [file.path for file in group_offsets(group, now=NOW).files] == ["/c/y"]


def test_a_popping_group_shows_what_is_not_acknowledged(group):
    popped = {"topic": "Orders", "broker": "broker-a", "queue_id": -1, "wait_ack_count": 9, "last_pop_at": None}
    group.clients.update(pop_queues=[popped])
    found = group_offsets(group, now=NOW)
    assert (found.is_popping, found.pop_unknown) == (True, None)
    assert [(pop.client_id, pop.topic, pop.wait_ack_count) for pop in found.pops] == [("c1", "Orders", 9)]


def test_nobody_holds_a_queue_of_a_popping_group(group):
    a_snapshot(group, a_queue(group.cluster), 150, 150)
    group.consume_type = "CONSUME_POP"
    assert the_row(group).unknown["exposure.low"] == (
        "popping: no member owns a queue; messages that are popped and not acknowledged are redelivered"
    )


def test_a_popping_member_that_did_not_say_leaves_the_count_unknown(group):
    group.consume_type = "CONSUME_POP"
    found = group_offsets(group, now=NOW)
    assert (found.is_popping, found.pops, found.pop_unknown) == (True, [], "c1: not sampled")
