"""Numbers of groups: what each is, when it is not known, and whom rules leave alone."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.models import (
    Broker,
    Cluster,
    ConsumerGroup,
    GroupTotal,
    GroupWindow,
    Measure,
    PipelineRun,
    Rebalance,
    ResetKind,
)
from tests.consumers.alerts.measures.of_all import column, of_group
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_judged_queue, a_queue, a_total, ago

pytestmark = pytest.mark.django_db
HABIT = {(NOW - timedelta(days=day)).date().isoformat(): [100, 60] for day in range(8)}
# The last whole minute that was judged.
LAST = ago(120)


@pytest.fixture
def cluster() -> Cluster:
    PipelineRun.objects.create(since=ago(90), until=ago(59), started_at=ago(20), finished_at=ago(10))
    cluster = a_cluster()
    a_broker(cluster, file_reserved_hours=72)
    return cluster


def a_behind_group(cluster: Cluster, lag: int | None = 9, state: str = "OK", **fields: Any) -> ConsumerGroup:
    of_group = {name: fields.pop(name) for name in list(fields) if name in {f.name for f in ConsumerGroup._meta.fields}}
    group = a_group(cluster, **of_group)
    a_total(group, lag, unknown_reason=None if lag is not None else fields.pop("unknown_reason", "not read"))
    a_judged_group(group, state, **({"time_lag_seconds": 90.0, "drain_seconds": 40.0} | fields))
    return group


@pytest.mark.parametrize("measure", [Measure.LAG, Measure.TIME_LAG, Measure.DRAIN])
def test_a_paused_group_may_wait(cluster: Cluster, measure: Measure) -> None:
    a_behind_group(cluster, consume_enable=False)
    value, said = of_group(measure)
    assert value
    assert said == "paused by configuration: consumeEnable is false"


@pytest.mark.parametrize("measure", [Measure.LAG, Measure.TIME_LAG, Measure.DRAIN])
def test_a_group_that_is_offline_by_habit_may_wait_for_as_long_as_it_was_judged_so(
    cluster: Cluster, measure: Measure
) -> None:
    group = a_behind_group(cluster, rule="offline by habit")
    assert of_group(measure)[1] == "offline by habit, and waiting for no longer than usual"
    group.judged.rule = "no members"
    group.judged.save()
    assert column(measure).spared(0) is None


def test_one_that_does_not_drain_has_no_number_of_seconds(cluster: Cluster) -> None:
    a_behind_group(cluster, drain_seconds=None)
    assert of_group(Measure.DRAIN) == (
        None,
        "it consumes no faster than is produced, or its rates are not known",
    )


def test_nothing_to_drain_takes_no_time(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=0, drain_seconds=None)
    assert of_group(Measure.DRAIN)[0] == 0.0


MEMBERLESS: dict[str, Any] = {"online": False, "members": 0, "offline_since": ago(400)}


def test_no_member_counts_from_when_the_last_one_was_missed(cluster: Cluster) -> None:
    a_behind_group(cluster, **MEMBERLESS)
    found = column(Measure.MEMBERS)
    assert (found.values, found.since(0), found.evidence(0), found.spared(0)) == ([0], ago(400), "no member", None)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"consume_enable": False}, "paused by configuration"),
        ({"consume_type": "CONSUME_ACTIVELY"}, "its members pull"),
        ({"message_model": "BROADCASTING"}, "broadcasting"),
        ({"moved_at": ago(20)}, "members of a proxy"),
        ({"presence": HABIT, "first_seen_at": ago(30 * 86400)}, "offline by habit: without a member for 60%"),
    ],
)
def test_nobody_expects_a_member_of_some(cluster: Cluster, fields: dict[str, Any], said: str) -> None:
    a_behind_group(cluster, **(MEMBERLESS | fields))
    assert said in (column(Measure.MEMBERS).spared(0) or "")


def test_members_that_no_broker_told_of_are_not_known(cluster: Cluster) -> None:
    a_behind_group(cluster, members=None, membership_error="broker-a timed out")
    assert of_group(Measure.MEMBERS) == (None, "broker-a timed out")


def test_unknown_counts_from_when_the_state_or_the_lag_was_last_known(cluster: Cluster) -> None:
    group = a_behind_group(cluster, lag=None, state="UNKNOWN", rule="lag not known", since=ago(200))
    group.total.last_good_at = ago(260)
    group.total.unknown_reason = "the consumer offset is ahead of the broker offset"
    group.total.save()
    value, said = of_group(Measure.UNKNOWN)
    assert (value, said) == (260.0, "its state is not known for 4 min 20 s: unknown: lag not known")
    assert column(Measure.UNKNOWN).since(0) == ago(260)


def test_a_lag_that_is_not_known_beside_a_known_state_counts_too(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=None, unknown_reason="the broker did not give this queue's offset")
    GroupTotal.objects.update(last_good_at=ago(130))
    value, said = of_group(Measure.UNKNOWN)
    assert (value, said) == (
        130.0,
        "its lag is not known for 2 min 10 s: the broker did not give this queue's offset",
    )


def test_a_known_group_is_unknown_for_no_time(cluster: Cluster) -> None:
    a_behind_group(cluster)
    assert of_group(Measure.UNKNOWN) == (0.0, "its state and its lag are known")


@pytest.mark.parametrize(
    "reason",
    ["no offset of this group is on any broker", "never committed", "no member reports its offset to the broker"],
)
def test_a_group_without_a_lag_by_its_nature_is_spared_of_being_unknown(cluster: Cluster, reason: str) -> None:
    a_behind_group(cluster, lag=None, unknown_reason=reason)
    assert of_group(Measure.UNKNOWN) == (0.0, reason)


def test_so_is_one_that_keeps_its_progress_elsewhere(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=None, state="UNKNOWN", outside_store="com.example.Store")
    assert "com.example.Store keeps its progress" in (column(Measure.UNKNOWN).spared(0) or "")


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
        "3 messages into its dead-letter topic in the five minutes until 02:59 UTC",
    )


@pytest.mark.parametrize("second", [None, "no window"])
def test_a_sum_of_some_minutes_is_not_the_sum(cluster: Cluster, second: str | None) -> None:
    group = a_behind_group(cluster)
    for minutes in (0, 2, 3, 4):
        a_window(group, minutes, 7)
    if second is None:
        a_window(group, 1, None)
    value, said = of_group(Measure.DLQ_INFLOW)
    assert (value, said) == (None, "not every one of the last five judged minutes tells of dead letters")


def a_rebalance(group: ConsumerGroup, seconds: float, episode: float) -> None:
    times = {"last_change_at": ago(seconds), "episode_since": ago(episode), "judged_at": ago(20)}
    Rebalance.objects.create(group=group, started_before=ago(seconds), polls=2, cause="joined", **times)


def test_rebalances_are_counted_by_episodes_of_the_hour(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    for seconds, episode in ((100, 160), (160, 160), (900, 900), (4000, 4000)):
        a_rebalance(group, seconds, episode)
    assert of_group(Measure.REBALANCES) == (2, "2 rebalances within an hour")


def test_none_that_was_seen_is_none_where_members_were_asked(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    assert of_group(Measure.REBALANCES)[0] == 0
    ConsumerGroup.objects.filter(pk=group.pk).update(membership_at=None)
    assert of_group(Measure.REBALANCES) == (None, "its members have not been asked for yet")


def test_retry_shares_that_are_not_told_say_why(cluster: Cluster) -> None:
    a_behind_group(cluster, retry_share=None, volumes_unknown={"retry_share": "nothing was consumed"})
    assert of_group(Measure.RETRY_SHARE) == (None, "nothing was consumed")


def test_expiry_is_that_of_the_queue_that_waits_longest_on_its_broker(cluster: Cluster) -> None:
    a_broker(cluster, "broker-b", file_reserved_hours=48)
    group = a_behind_group(cluster, time_lag_seconds=3600 * 60.0)
    for broker, hours in (("broker-a", 60), ("broker-b", 40)):
        queue = a_queue(cluster, "Orders", broker=broker)
        a_judged_queue(group, queue, time_lag_seconds=3600.0 * hours)
    assert of_group(Measure.EXPIRY) == (8 * 3600.0, "brokers may delete its oldest unread message in 8 h")


def test_what_may_be_deleted_already_expires_in_no_time(cluster: Cluster) -> None:
    group = a_behind_group(cluster, time_lag_seconds=3600 * 80.0)
    a_judged_queue(group, a_queue(cluster), time_lag_seconds=3600 * 80.0)
    assert of_group(Measure.EXPIRY) == (0.0, "brokers may delete its oldest unread message already")


def test_expiry_is_not_known_where_a_broker_does_not_say_or_a_queue_is_not_judged(cluster: Cluster) -> None:
    group = a_behind_group(cluster)
    a_judged_queue(group, a_queue(cluster), time_lag_seconds=60.0)
    a_judged_queue(group, a_queue(cluster, queue_id=1), time_lag_seconds=None)
    assert of_group(Measure.EXPIRY)[0] is None
    group.queue_states.filter(time_lag_seconds=None).update(rule="never committed")
    assert of_group(Measure.EXPIRY)[0] == 72 * 3600.0 - 60
    Broker.objects.update(file_reserved_hours=None)
    assert "how long a broker of it keeps messages" in of_group(Measure.EXPIRY)[1]


def test_where_nothing_waits_a_message_is_kept_for_as_long_as_brokers_keep_it(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=0)
    assert of_group(Measure.EXPIRY)[0] == 72 * 3600.0


def test_a_stalled_group_says_where_and_since_when(cluster: Cluster) -> None:
    detail = {"topic": "Orders", "broker": "broker-a", "queue_id": 3, "still_seconds": 720, "lag_messages": 9}
    a_behind_group(cluster, state="STALL", rule="blocked", detail=detail, since=ago(720))
    value, said = of_group(Measure.STATE)
    assert value == "STALL"
    assert said == "stalled: blocked on Orders/broker-a/3 · offset still for 12 min · 9 messages behind"
    assert column(Measure.STATE).since(0) == ago(720)


def test_an_offset_that_somebody_set_from_here_is_spared(cluster: Cluster) -> None:
    detail = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
    group = a_behind_group(cluster, state="REWIND", rule="offset went back", detail=detail, since=ago(30))
    assert column(Measure.STATE).spared(0) is None
    assert "not by Consumerscope" in column(Measure.STATE).evidence(0)
    reset = a_reset(group, kind=ResetKind.EARLIEST, status="done")
    a_reset_queue(reset, before=90, target=10, written_at=ago(40), outcome="confirmed")
    assert (column(Measure.STATE).spared(0) or "").startswith("reset by")
