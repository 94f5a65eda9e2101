"""The ladder of a group: what waits on which level, what of it is the group's, and what is not known."""

import pytest

from consumers.models import Broker, ConsumerGroup, DelayLevel
from consumers.retries.ladder import ALL_DUE, NO_LEVELS, NOTHING_WAITS, ladder_of
from consumers.retries.ladder_rows import WaitingLevel
from tests.delay_rows import a_delaying_broker, a_level, a_rung, levels
from tests.world import NOW, a_client, a_cluster, a_group, a_queue, a_snapshot, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster():
    cluster = a_cluster()
    a_delaying_broker(cluster)
    return cluster


@pytest.fixture
def group(cluster):
    return a_group(cluster, "billing", retry_max_times=16)


def ladder():
    return ladder_of("prod", "billing", NOW)


def test_there_is_a_rung_for_each_level_with_its_delay_and_the_retry_that_waits_there(cluster, group):
    levels(cluster)
    assert [(rung.level, rung.delay_seconds, rung.retry) for rung in ladder().rungs] == [
        (1, 1, None),
        (2, 5, None),
        (3, 10, 1),
        (4, 30, 2),
    ]


def test_the_backlog_is_that_of_all_brokers(cluster, group):
    a_delaying_broker(cluster, "broker-b")
    levels(cluster, level3=5)
    levels(cluster, broker="broker-b", level3=7)
    assert [rung.broker_backlog for rung in ladder().rungs] == [0, 0, 12, 0]


@pytest.mark.parametrize(
    ("sentence", "broker", "reason"),
    [
        ("it fails", {"failing_since": ago(60), "error": "refused"}, "broker-b could not be read: refused"),
        ("it is late", {"last_read_at": ago(300)}, "broker-b has not been read for more than 45 s"),
        ("its levels fail", {"delays_error": "closed"}, "broker-b did not report its delay levels: closed"),
        ("never asked", {"delays_at": None}, "the delay levels of broker-b have not been read yet"),
        ("asked long ago", {"delays_at": ago(300)}, "have not been read since 2026-03-14 02:55:00 UTC"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_one_broker_that_is_not_read_makes_the_backlog_unknown(cluster, group, sentence, broker, reason):
    a_delaying_broker(cluster, "broker-b", **broker)
    levels(cluster, level3=5)
    levels(cluster, broker="broker-b", level3=7)
    rung = ladder().rungs[2]
    assert (rung.broker_backlog, rung.sampled) == (None, None)
    assert reason in rung.unknown["broker_backlog"]
    assert reason in rung.unknown["sampled"]
    assert reason in rung.unknown["overdue_seconds"]


def test_a_broker_that_has_said_nothing_makes_every_rung_unknown(cluster, group):
    a_delaying_broker(cluster, "broker-b", delay_levels=None, delays_at=None)
    levels(cluster, level3=5)
    assert {rung.broker_backlog for rung in ladder().rungs} == {None}


def test_a_level_without_a_row_is_unknown_and_not_empty(cluster, group):
    a_level(cluster, 3, 5)
    rung = ladder().rungs[3]
    assert (rung.level, rung.broker_backlog) == (4, None)
    assert rung.unknown["broker_backlog"] == "the broker gave no offsets of this level"


def test_a_level_that_ends_before_what_it_delivered_is_unknown(cluster, group):
    a_level(cluster, 3, delay_offset=10, broker_offset=4)
    rung = next(rung for rung in ladder().rungs if rung.level == 3)
    assert (rung.broker_backlog, "recreated" in rung.unknown["broker_backlog"]) == (None, True)


@pytest.mark.parametrize("text", [None, "soon later"])
def test_delays_that_are_not_told_are_unknown_and_backlogs_are_known(cluster, group, text):
    Broker.objects.update(delay_levels=text)
    levels(cluster, level3=5)
    [rung] = [rung for rung in ladder().rungs if rung.broker_backlog]
    assert (rung.level, rung.broker_backlog, rung.delay_seconds) == (3, 5, None)
    assert rung.unknown["delay_seconds"].startswith("broker-a: ")


def test_brokers_that_delay_a_level_differently_make_its_delay_unknown(cluster, group):
    a_delaying_broker(cluster, "broker-b", delay_levels="1s 5s 20s 30s")
    levels(cluster)
    levels(cluster, broker="broker-b")
    rungs = ladder().rungs
    assert [rung.delay_seconds for rung in rungs] == [1, 5, None, 30]
    assert rungs[2].unknown["delay_seconds"] == "brokers delay it differently: broker-a 10 s, broker-b 20 s"


def test_a_group_s_messages_are_those_of_the_samples(cluster, group):
    a_delaying_broker(cluster, "broker-b")
    levels(cluster, level3=5)
    levels(cluster, broker="broker-b", level3=7)
    a_rung(group, 3, 2, oldest_stored_at=ago(9), next_due_at=ago(-1))
    a_rung(group, 3, 3, broker="broker-b", oldest_stored_at=ago(7), next_due_at=ago(-3), attempts={"1": 2, "4": 1})
    sampled = ladder().rungs[2].sampled
    assert (sampled.messages, sampled.looked_at, sampled.of, sampled.is_whole) == (5, 12, 12, True)
    assert (dict(sampled.attempts), sampled.oldest_waiting_at, sampled.next_due_at) == ({1: 4, 4: 1}, ago(9), ago(-1))


def test_a_group_without_a_message_among_those_looked_at_has_none_of_them(cluster, group):
    levels(cluster, level3=5)
    found = ladder()
    assert (found.rungs[2].sampled.messages, found.rungs[2].sampled.next_due_at) == (0, None)
    assert (found.messages, found.looked_at, found.of) == (0, 5, 5)
    assert found.unknown["oldest_waiting"] == found.unknown["next_to_fire"] == NOTHING_WAITS


def test_what_waits_longest_and_what_comes_next_are_named_with_their_level(cluster, group):
    levels(cluster, level3=5, level4=5)
    a_rung(group, 3, 2, oldest_stored_at=ago(6), next_due_at=ago(-4))
    a_rung(group, 4, 1, oldest_stored_at=ago(22), next_due_at=ago(-8))
    found = ladder()
    assert found.oldest_waiting == WaitingLevel(level=4, at=ago(22))
    assert found.next_to_fire == WaitingLevel(level=3, at=ago(-4))


def test_what_was_due_since_the_sample_is_not_next(cluster, group):
    levels(cluster, level3=5)
    a_rung(group, 3, 2, next_due_at=ago(1))
    found = ladder()
    assert (found.next_to_fire, found.unknown["next_to_fire"]) == (None, ALL_DUE)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"sample_error": "no permission"}, "broker-a refused to sample level 3: no permission"),
        ({"sampled_at": None, "looked_at": None}, "level 3 of broker-a has not been sampled yet"),
        ({"sampled_at": ago(181)}, "level 3 of broker-a has not been sampled since"),
    ],
    ids=["refused", "not yet", "long ago"],
)
def test_a_level_that_was_not_looked_into_makes_the_sums_unknown(cluster, group, row, reason):
    levels(cluster, level3=5)
    DelayLevel.objects.filter(level=3).update(**row)
    found = ladder()
    assert (found.rungs[2].broker_backlog, found.rungs[2].sampled, found.messages) == (5, None, None)
    assert found.rungs[2].unknown["sampled"].startswith(reason)
    assert found.unknown["messages"].startswith(reason)
    assert found.last_attempts.unknown["messages"].startswith(reason)


def test_a_cluster_of_which_nothing_is_known_has_no_rungs_and_says_why(group):
    Broker.objects.all().delete()
    found = ladder()
    assert (list(found.rungs), found.unknown["rungs"], found.messages) == ([], NO_LEVELS, None)
    assert found.unknown["read_at"] == "no broker of the cluster is known yet"


def test_every_null_of_the_ladder_has_its_reason(cluster, group):
    Broker.objects.update(delays_at=None, delay_levels=None, wheel=None, wheel_at=None)
    found = ladder()
    nulls = {"messages", "looked_at", "of", "oldest_waiting", "next_to_fire", "policy", "read_at"}
    assert all(getattr(found, name) is None and found.unknown[name] for name in nulls)


def test_what_is_due_in_the_retry_topics_is_their_lag(cluster, group):
    levels(cluster)
    queue = a_queue(cluster, "%RETRY%billing", kind="retry")
    a_snapshot(group, queue, 3, 10)
    a_snapshot(group, a_queue(cluster, "%RETRY%other", kind="retry"), 0, 50)
    due = ladder().due
    assert (due.queues, due.lag_messages, due.lag_messages_at_least) == (1, 7, 7)
    assert (due.oldest_seconds, "not evaluated" in due.unknown["oldest_seconds"]) == (None, True)


def test_a_retry_queue_that_is_not_known_leaves_the_known_sum(cluster, group):
    a_snapshot(group, a_queue(cluster, "%RETRY%billing", kind="retry"), 3, 10)
    a_snapshot(group, a_queue(cluster, "%RETRY%billing", 1, kind="retry"), None, 10, unknown_reason="never_committed")
    due = ladder().due
    assert (due.lag_messages, due.lag_messages_at_least) == (None, 7)
    assert due.unknown["lag_messages"].endswith("never committed")


def test_a_ladder_costs_the_same_however_many_rows_there_are(cluster, group, django_assert_max_num_queries):
    levels(cluster, level3=5, level4=5)
    for number in range(5):
        a_snapshot(group, a_queue(cluster, "%RETRY%billing", number, kind="retry"), 3, 10)
        a_client(group, f"10.0.0.{number}@1", settings={"maxReconsumeTimes": "16"})
    with django_assert_max_num_queries(18):
        ladder()


def test_a_group_that_is_not_there_has_no_ladder(cluster):
    with pytest.raises(ConsumerGroup.DoesNotExist):
        ladder_of("prod", "nobody", NOW)
