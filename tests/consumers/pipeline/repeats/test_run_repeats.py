"""Repeats from what a run finds to their rows."""

import pytest

from consumers.models import Client, ConsumerGroup, RepeatEvent
from tests.consumers.pipeline.repeats.runs import (
    A,
    B,
    a_crash,
    a_file_read,
    a_window,
    a_written_queue,
    evaluate,
    events,
    offsets_read,
    reported,
)
from tests.log_rows import a_log_event, a_log_file
from tests.ownership_rows import it_held
from tests.rebalance_rows import a_move, a_moved_topic, a_rebalance
from tests.reset_rows import a_reset
from tests.world import a_cluster, a_group, a_queue, ago

pytestmark = pytest.mark.django_db


def test_a_crash_is_one_event_with_its_queue_and_offsets(lake, billing):
    a_crash(billing)

    assert evaluate(lake, rebalanced=["billing"]) == 1
    event = RepeatEvent.objects.get()
    assert (event.cause, event.confidence, event.redelivered_low, event.redelivered_high) == (
        "consumer_crash",
        "proven",
        40,
        120,
    )
    assert (event.began_after, event.started_at, event.queue_count) == (ago(615), ago(600), 1)
    [part] = event.parts
    assert (part["topic"], part["broker"], part["queue_id"]) == ("Orders", "broker-a", 0)
    assert (part["from_offset"], part["until_offset"]) == (900, 1020)


def test_a_crash_that_replayed_retried_messages_alone_is_an_event(lake, billing):
    row = a_crash(billing).rebalance
    [(_topic, move)] = row.moves()
    row.topics.all().delete()
    it_held(billing, a_queue(billing.cluster, "%RETRY%billing", 0), A, 3600, 620)
    row.retry_moves = [{"topic": "%RETRY%billing", **move}]
    row.save()

    assert evaluate(lake, rebalanced=["billing"]) == 1
    event = RepeatEvent.objects.get()
    assert (event.cause, event.redelivered_low, event.redelivered_high) == ("consumer_crash", 40, 120)
    assert event.parts[0]["topic"] == "%RETRY%billing"


def test_the_same_range_twice_leaves_every_row_as_it_is(lake, billing):
    a_crash(billing)
    readings = offsets_read(900, 950, 400, 420)
    evaluate(lake, readings, rebalanced=["billing"])
    before = list(RepeatEvent.objects.order_by("pk").values_list())

    evaluate(lake, readings, rebalanced=["billing"])

    assert len(before) == 2
    assert list(RepeatEvent.objects.order_by("pk").values_list()) == before


def test_two_runs_say_what_one_does(lake, billing):
    readings = offsets_read(900, 400, 420, 300, 310, 320, 330)
    evaluate(lake, readings, since=120, until=0)
    whole = events()
    RepeatEvent.objects.all().delete()

    evaluate(lake, readings, since=120, until=85)
    evaluate(lake, readings, since=85, until=0)

    assert len(whole) == 1
    assert events() == whole


@pytest.mark.parametrize(("doubled", "found"), [(300, 0), (None, 1), (20, 1)], ids=["before", "never", "afterwards"])
def test_a_queue_whose_owner_shares_its_id_falls_by_its_two_commits(lake, billing, doubled, found):
    Client.objects.create(
        group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", seen_since=ago(7000), last_seen=ago(5),
        duplicated_since=None if doubled is None else ago(doubled),
    )  # fmt: skip
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, 5)

    assert evaluate(lake, offsets_read(900, 950, 910, 960)) == found


def test_a_repeat_that_is_found_no_more_goes(lake, billing):
    topic = a_crash(billing)
    evaluate(lake, rebalanced=["billing"])
    topic.delete()

    assert evaluate(lake, rebalanced=["billing"]) == 0
    assert not RepeatEvent.objects.exists()


def test_our_reset_is_named_with_its_number(lake, billing):
    reset = a_reset(billing)
    a_written_queue(reset, before=960, target=400)

    evaluate(lake, offsets_read(900, 950, 410, 420))

    event = RepeatEvent.objects.get()
    assert (event.cause, event.confidence, event.redelivered_low) == ("reset", "proven", 560)
    assert event.evidence[0] == {"code": "reset_written", "reset": str(reset.pk), "target": 400}


def test_members_that_our_reset_notified_go_where_their_broker_sent_them(lake, billing):
    a_written_queue(a_reset(billing), before=960, target=400, answered=500)

    evaluate(lake, offsets_read(900, 950, 510, 520))

    assert RepeatEvent.objects.get().redelivered_low == 460


def test_our_reset_is_known_though_the_group_was_back_before_it_was_polled(lake, billing):
    a_written_queue(a_reset(billing), before=960, target=400)

    evaluate(lake, offsets_read(900, 950, 960, 970))

    assert [row[:2] for row in events()] == [("reset", "proven")]


def test_a_reset_that_moved_a_queue_on_is_no_repeat(lake, billing):
    a_written_queue(a_reset(billing), before=400, target=960)

    evaluate(lake)

    assert events() == []


@pytest.fixture
def restarted(billing):
    """A broadcasting member that began again 60 s ago."""
    ConsumerGroup.objects.update(message_model="BROADCASTING")
    for since, gone, seen in ((7000, 90, 100), (60, None, 5)):
        Client.objects.create(
            group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", started_at=ago(since),
            seen_since=ago(since), last_seen=ago(seen), gone_by=None if gone is None else ago(gone),
        )  # fmt: skip


def test_a_broadcasting_member_that_began_behind_its_memory_crashed(lake, billing, restarted):
    reported(lake, (115, 480), (100, 500))
    reported(lake, (60, 470), started=60)
    a_file_read(lake, (75, 101, 450), kind="consumer_file", client_id=A)

    assert evaluate(lake) == 1
    [event] = events()
    assert event[:2] == ("broadcast_crash", "proven")
    assert event[4] == 50


def test_the_least_offset_of_broadcasting_members_going_back_is_no_repeat(lake, billing, restarted):
    assert evaluate(lake, offsets_read(900, 850, every=30)) == 0


def test_a_broadcasting_group_has_no_repeat_of_a_rebalance(lake, billing):
    a_crash(billing)
    ConsumerGroup.objects.update(message_model="BROADCASTING")

    assert evaluate(lake, rebalanced=["billing"]) == 0


def test_a_fall_of_a_queue_that_moved_is_the_rebalances_repeat(lake, billing):
    a_crash(billing, at=105)

    evaluate(lake, offsets_read(900, 870, 880), rebalanced=["billing"])

    assert [row[0] for row in events()] == ["consumer_crash"]


def test_an_owner_that_stays_and_was_set_back_is_no_rebalance(lake, billing):
    """A client whose offset somebody set back drops its queue and takes it again."""
    row = a_rebalance(billing, ago(105), cause="unknown")
    a_moved_topic(row, moves=[a_move(0, (A,), (A,), replayed_messages_low=400, replayed_messages=500)])

    evaluate(lake, offsets_read(900, 400, 420), rebalanced=["billing"])

    assert [row[0] for row in events()] == ["reset_elsewhere"]


def test_a_member_that_has_just_begun_and_was_set_back_is_no_rebalance(lake, billing):
    """Its join and its taking the queue again are one rebalance."""
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 103, 5)
    row = a_rebalance(billing, ago(105), cause="joined", settled_at=ago(85))
    a_moved_topic(row, moves=[a_move(0, (), (A,), replayed_messages_low=400, replayed_messages=500)])

    evaluate(lake, offsets_read(900, 400, 420), rebalanced=["billing"])

    assert [row[0] for row in events()] == ["reset_elsewhere"]


def test_an_id_that_a_second_process_took_while_its_member_joined_is_the_cause(lake, billing):
    """The member is seen no earlier than the rebalance."""
    Client.objects.create(
        group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", seen_since=ago(600), last_seen=ago(5),
        duplicated_since=ago(590),
    )  # fmt: skip
    row = a_rebalance(billing, ago(600), cause="joined", settled_at=ago(570))
    seconds = {"doubly_owned_seconds_low": 15.0, "doubly_owned_seconds_high": 30.0}
    a_moved_topic(row, moves=[a_move(0, (), (A,), **seconds)])

    evaluate(lake, rebalanced=["billing"])

    assert [row[:2] for row in events()] == [("duplicate_client_id", "proven")]


@pytest.mark.parametrize(("later", "cause"), [(555, "duplicate_client_id"), (200, "two_owners")])
def test_a_shared_id_is_known_for_a_while_after_the_second_process_is_gone(lake, billing, later, cause):
    """The row of the member no longer tells then."""
    Client.objects.create(
        group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", seen_since=ago(600), last_seen=ago(5),
        duplicated_since=ago(590),
    )  # fmt: skip
    doubled = {"doubly_owned_seconds_low": 0.0, "doubly_owned_seconds_high": 10.0}
    row = a_rebalance(billing, ago(600), cause="joined", settled_at=ago(570))
    a_moved_topic(row, moves=[a_move(0, (), (A,), **doubled)])
    evaluate(lake, rebalanced=["billing"])
    Client.objects.update(duplicated_since=None)
    row = a_rebalance(billing, ago(later), cause="left", settled_at=ago(later - 5))
    a_moved_topic(row, moves=[a_move(0, (A, B), (A,), **doubled)])

    evaluate(lake, rebalanced=["billing"])

    assert {row[0] for row in events()} == {"duplicate_client_id", cause}


@pytest.mark.parametrize(("count", "high"), [(1, 600), (65, 501)], ids=["alone", "others wait for a thread"])
def test_behind_a_message_that_stood_a_reset_repeats_all_that_may_be_finished(lake, billing, count, high):
    """1,000 messages; the first of those that it held stood at 900 when somebody set the offset to 400."""
    Client.objects.create(
        group=billing, client_id=A, address="10.0.0.7:1", language="JAVA", seen_since=ago(7000), last_seen=ago(5)
    )
    held = {"commit_offset": 900, "cached_min": 900, "cached_max": 900, "cached_count": count}
    it_held(billing, a_queue(billing.cluster, "Orders", 0), A, 3600, 110, head_since=ago(300), **held)

    evaluate(lake, offsets_read(900, 400, 400))

    assert [(row[0], row[4], row[5]) for row in events()] == [("reset_elsewhere", 500, high)]


def test_messages_sent_back_are_one_event_while_they_keep_coming(lake, billing):
    for minutes, came in ((8, 3), (6, 4), (5, 0)):
        a_window(billing, minutes, came)

    evaluate(lake, since=600)

    event = RepeatEvent.objects.get()
    assert (event.cause, event.redelivered_low, event.redelivered_high) == ("wrong_ack", 7, 7)
    assert {part["topic"] for part in event.parts} == {"%RETRY%billing"}


def test_a_minute_is_counted_once_however_many_runs_see_it(lake, billing):
    a_window(billing, 1, 5)
    for until in (45, 30, 0):
        evaluate(lake, since=60, until=until)

    assert RepeatEvent.objects.get().redelivered_high == 5


def test_a_batch_is_named_where_members_take_several_messages(lake, billing):
    Client.objects.create(group=billing, client_id=B, address="10.0.0.9:1", language="JAVA", seen_since=ago(7000),
                          last_seen=ago(5), settings={"consumeMessageBatchMaxSize": "32"},
                          consume_status={"Orders": {"consume_failed_messages": 6}})  # fmt: skip
    a_window(billing, 2, 5)

    evaluate(lake, since=300)

    assert [row[:2] for row in events()] == [("batch_reconsume", "likely")]


POPPED = [{"topic": "Orders", "broker": "broker-a", "wait_ack_count": 3}]


@pytest.mark.parametrize(
    ("members", "cause"),
    [
        ([{"pop_queues": POPPED}], "pop_revive"),
        ([{"pop_queues": POPPED, "gone_by": ago(200)}], "pop_revive"),
        ([{"pop_queues": POPPED, "gone_by": ago(3000)}, {"pop_queues": None}], "wrong_ack"),
        ([{"pop_queues": None}], "wrong_ack"),
    ],
    ids=["a member pops", "the last one popped", "it popped once and pulls now", "it pulls"],
)
def test_messages_that_members_popped_came_back_as_nobody_acknowledged_them(lake, billing, members, cause):
    Client.objects.all().delete()
    for number, fields in enumerate(members):
        Client.objects.create(group=billing, client_id=f"{number}", address=f"10.0.0.{number}:1", language="JAVA",
                              seen_since=ago(7000), last_seen=ago(5), **fields)  # fmt: skip
    a_window(billing, 2, 5)

    evaluate(lake, since=300)

    assert [row[:2] for row in events()] == [(cause, "likely")]


def test_a_quiet_run_asks_few_questions(lake, billing, django_assert_max_num_queries):
    with django_assert_max_num_queries(5):
        assert evaluate(lake, offsets_read(100, 200, 300)) == 0


def test_a_line_of_a_log_names_the_cause_of_what_was_sent_back(lake, billing):
    for number in (1, 2):
        a_window(billing, number, 6)
    a_log_event(billing, a_log_file(billing.cluster), "consume_timed_out", began_at=ago(600), at=ago(1), topic=None)

    evaluate(lake, since=300.0)

    event = RepeatEvent.objects.get()
    assert (event.cause, event.confidence, event.source) == ("consume_timeout", "proven", "retries")
    assert "consume_timed_out" in [one.get("log") for one in event.evidence]


def a_stop(group, seconds):
    at = ago(seconds)
    nowhere = {"group": None, "topic": None, "broker": None, "queue_id": None}
    a_log_event(group, a_log_file(group.cluster), "client_stopped", began_at=at, at=at, client_id=A, **nowhere)


def found_now():
    return [row[:2] for row in events()]


def test_a_line_that_is_read_after_its_repeat_was_found_counts_all_the_same(lake, billing):
    a_crash(billing, at=105, replayed_messages_low=0)
    evaluate(lake, rebalanced=["billing"])
    assert found_now() == [("consumer_crash", "possible")]
    a_stop(billing, 107)

    evaluate(lake, since=60)
    evaluate(lake, since=45)

    assert found_now() == [("shutdown_did_not_wait", "possible")]
    logged = [one for one in RepeatEvent.objects.get().evidence if one["code"] == "log_line"]
    assert [one["log"] for one in logged] == ["client_stopped"]


def test_a_client_of_another_cluster_that_stopped_says_nothing(lake, billing):
    a_crash(billing, at=105, replayed_messages_low=0)
    a_stop(a_group(a_cluster("other", read_at=None), "billing"), 107)

    evaluate(lake, rebalanced=["billing"])

    assert found_now() == [("consumer_crash", "possible")]


def test_a_line_of_another_group_says_nothing(lake, billing):
    a_window(billing, 1, 6)
    other = a_group(billing.cluster, "audit")
    a_log_event(other, a_log_file(billing.cluster), "consume_timed_out", began_at=ago(600), at=ago(1))

    evaluate(lake, since=300.0)

    assert RepeatEvent.objects.get().cause == "wrong_ack"
