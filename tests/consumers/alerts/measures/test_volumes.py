"""What was counted or judged of late: dead letters, rebalances, retries, and what expires."""

from datetime import timedelta

import pytest

from consumers.models import Broker, Cluster, ConsumerGroup, GroupWindow, Measure, Rebalance
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster, of_group
from tests.rebalance_rows import was_watched
from tests.world import a_broker, a_judged_queue, a_queue, ago

pytestmark = pytest.mark.django_db
# The last whole minute that was judged.
LAST = ago(120)


@pytest.fixture
def cluster() -> Cluster:
    return a_judged_cluster()


def a_window(group: ConsumerGroup, minutes: int, into_dlq: int | None) -> None:
    start = LAST - timedelta(minutes=minutes)
    GroupWindow.objects.create(group=group, step_seconds=60, start=start, readings=4, into_dlq=into_dlq)


def test_dead_letters_are_those_of_the_last_five_judged_minutes(cluster: Cluster) -> None:
    """The window that goes on is left out, and so is the one six minutes back."""
    group = a_behind_group(cluster)
    for minutes, dead in ((-1, 100), (0, 1), (1, 0), (2, 0), (3, 0), (4, 2), (5, 1000)):
        a_window(group, minutes, dead)
    assert of_group(Measure.DLQ_INFLOW) == (
        3,
        "DLQ inflow of 3 messages in the 5 minutes until 2026-03-14 02:59:00 UTC",
    )


@pytest.mark.parametrize("second", [None, "no window"])
def test_a_sum_of_some_minutes_is_not_the_sum(cluster: Cluster, second: str | None) -> None:
    group = a_behind_group(cluster)
    for minutes in (0, 2, 3, 4):
        a_window(group, minutes, 7)
    if second is None:
        a_window(group, 1, None)
    value, said = of_group(Measure.DLQ_INFLOW)
    assert (value, said) == (None, "the DLQ inflow of the last 5 evaluated minutes is not known in full")


def a_rebalance(group: ConsumerGroup, seconds: float, episode: float) -> None:
    times = {"last_change_at": ago(seconds), "episode_since": ago(episode), "judged_at": ago(20)}
    Rebalance.objects.create(group=group, started_before=ago(seconds), polls=2, cause="joined", **times)


def test_rebalances_are_counted_by_episodes_of_the_hour(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    for seconds, episode in ((100, 160), (160, 160), (900, 900), (4000, 4000)):
        a_rebalance(group, seconds, episode)
    was_watched(cluster, 3600)
    assert of_group(Measure.REBALANCES) == (2, "2 rebalance episodes within an hour")


def test_none_that_was_seen_is_none_where_members_were_asked(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    assert of_group(Measure.REBALANCES)[0] == 0
    ConsumerGroup.objects.filter(pk=group.pk).update(membership_at=None, members=None)
    assert of_group(Measure.REBALANCES) == (None, "the group's members have not been asked yet")


def test_none_was_seen_while_a_broker_does_not_say_who_the_members_are(cluster: Cluster) -> None:
    """Not within two hours: an open incident must not resolve because nobody can see rebalances."""
    a_behind_group(cluster, membership_at=ago(7200), members=None, membership_error="broker-a: no answer")
    assert of_group(Measure.REBALANCES) == (None, "broker-a: no answer")


def test_retry_shares_that_are_not_told_say_why(cluster: Cluster) -> None:
    a_behind_group(cluster, retry_share=None, volumes_unknown={"retry_share": "nothing_consumed"})
    assert of_group(Measure.RETRY_SHARE) == (None, "nothing was consumed")


def test_expiry_is_that_of_the_queue_that_waits_longest_on_its_broker(cluster: Cluster) -> None:
    a_broker(cluster, "broker-b", file_reserved_hours=48)
    group = a_behind_group(cluster, time_lag_seconds=3600 * 60.0)
    for broker, hours in (("broker-a", 60), ("broker-b", 40)):
        queue = a_queue(cluster, "Orders", broker=broker)
        a_judged_queue(group, queue, time_lag_seconds=3600.0 * hours)
    assert of_group(Measure.EXPIRY) == (8 * 3600.0, "the oldest unconsumed message may be deleted in 8 h")


def test_what_may_be_deleted_already_expires_in_no_time(cluster: Cluster) -> None:
    group = a_behind_group(cluster, time_lag_seconds=3600 * 80.0)
    a_judged_queue(group, a_queue(cluster), time_lag_seconds=3600 * 80.0)
    assert of_group(Measure.EXPIRY) == (0.0, "the oldest unconsumed message may be deleted already")


def test_expiry_is_not_known_where_a_broker_does_not_say_or_a_queue_is_not_judged(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    a_judged_queue(group, a_queue(cluster), time_lag_seconds=60.0)
    a_judged_queue(group, a_queue(cluster, queue_id=1), time_lag_seconds=None)
    assert of_group(Measure.EXPIRY)[0] is None
    group.queue_states.filter(time_lag_seconds=None).update(rule="never_committed")
    assert of_group(Measure.EXPIRY)[0] == 72 * 3600.0 - 60
    Broker.objects.update(file_reserved_hours=None)
    assert "the message retention of a broker" in of_group(Measure.EXPIRY)[1]


def test_where_nothing_waits_a_message_is_kept_for_as_long_as_brokers_keep_it(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=0)
    assert of_group(Measure.EXPIRY)[0] == 72 * 3600.0
