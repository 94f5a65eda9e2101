"""Numbers of groups: what each is, when it is not known, and whom rules leave alone."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.models import Cluster, GroupTotal, Measure, ResetKind
from consumers.words.reasons import stored_words
from tests.consumers.alerts.measures.group_rows import a_behind_group, a_judged_cluster, column, of_group
from tests.reset_rows import a_reset, a_reset_queue
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
HABIT = {(NOW - timedelta(days=day)).date().isoformat(): [100, 60] for day in range(8)}


@pytest.fixture
def cluster() -> Cluster:
    return a_judged_cluster()


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
    group = a_behind_group(cluster, rule="offline_by_habit")
    assert of_group(measure)[1] == "offline by habit, and its time lag is within its usual maximum"
    group.judged.rule = "no_members"
    group.judged.save()
    assert column(measure).suppressed(0) is None


def test_a_habit_that_was_judged_long_ago_excuses_no_lag_of_now(cluster: Cluster) -> None:
    a_behind_group(cluster, rule="offline_by_habit", judged_at=ago(7200))
    assert (of_group(Measure.LAG)[0], column(Measure.LAG).suppressed(0)) == (9, None)


def test_how_long_a_stopped_group_has_had_no_member_reaches_further_back_than_what_was_evaluated(
    cluster: Cluster,
) -> None:
    group = a_behind_group(
        cluster,
        state="STOP",
        rule="no_members",
        detail={"without_members_seconds": 895.0, "lag_messages": 9},
        online=False,
        members=0,
        offline_since=ago(3620),
        membership_at=ago(20),
    )
    assert "no member for 1 h" in stored_words(of_group(Measure.STATE)[1])
    group.offline_since = None
    group.save()
    assert "no member for 14 min" in stored_words(of_group(Measure.STATE)[1])


def test_one_that_does_not_drain_has_no_number_of_seconds(cluster: Cluster) -> None:
    a_behind_group(cluster, drain_seconds=None)
    assert of_group(Measure.DRAIN) == (
        None,
        "it consumes no faster than is produced, or its rates are unknown",
    )


def test_nothing_to_drain_takes_no_time(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=0, drain_seconds=None)
    assert of_group(Measure.DRAIN)[0] == 0.0


MEMBERLESS: dict[str, Any] = {"online": False, "members": 0, "offline_since": ago(400)}


def test_no_member_counts_from_when_the_last_one_was_missed(cluster: Cluster) -> None:
    a_behind_group(cluster, **MEMBERLESS)
    found = column(Measure.MEMBERS)
    assert (found.values, found.since(0), found.evidence(0), found.suppressed(0)) == ([0], ago(400), "no member", None)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"consume_enable": False}, "paused by configuration"),
        ({"consume_type": "CONSUME_ACTIVELY"}, "pull consumers"),
        ({"message_model": "BROADCASTING"}, "broadcasting"),
        ({"moved_at": ago(20)}, "clients of a proxy"),
        ({"presence": HABIT, "first_seen_at": ago(30 * 86400)}, "offline by habit: without a member for 60 %"),
    ],
)
def test_nobody_expects_a_member_of_some(cluster: Cluster, fields: dict[str, Any], said: str) -> None:
    a_behind_group(cluster, **(MEMBERLESS | fields))
    assert said in (column(Measure.MEMBERS).suppressed(0) or "")


def test_members_that_no_broker_told_of_are_not_known(cluster: Cluster) -> None:
    a_behind_group(cluster, members=None, membership_error="broker-a timed out")
    assert of_group(Measure.MEMBERS) == (None, "broker-a timed out")


def test_unknown_counts_from_when_the_state_or_the_lag_was_last_known(cluster: Cluster) -> None:
    group = a_behind_group(cluster, lag=None, state="UNKNOWN", rule="lag_unknown", since=ago(200))
    group.total.last_good_at = ago(260)
    group.total.unknown_reason = "consumer_ahead"
    group.total.save()
    value, said = of_group(Measure.UNKNOWN)
    assert (value, said) == (260.0, "state unknown for 4 min 20 s: lag unknown")
    assert column(Measure.UNKNOWN).since(0) == ago(260)


def test_a_lag_that_is_not_known_beside_a_known_state_counts_too(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=None, unknown_reason="no_broker_offset")
    GroupTotal.objects.update(last_good_at=ago(130))
    value, said = of_group(Measure.UNKNOWN)
    assert (value, said) == (
        130.0,
        "lag unknown for 2 min 10 s: the broker did not give this queue's offset",
    )


def test_a_known_group_is_unknown_for_no_time(cluster: Cluster) -> None:
    a_behind_group(cluster)
    assert of_group(Measure.UNKNOWN) == (0.0, "state and lag are known")


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no_offsets", "no broker has an offset of this group"),
        ("never_committed", "never committed"),
        ("not_reported", "no member reports its offset to the broker"),
    ],
)
def test_a_group_without_a_lag_by_its_nature_is_spared_of_being_unknown(
    cluster: Cluster, reason: str, said: str
) -> None:
    a_behind_group(cluster, lag=None, unknown_reason=reason)
    assert of_group(Measure.UNKNOWN) == (0.0, said)


def test_so_is_one_that_keeps_its_progress_elsewhere(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=None, state="UNKNOWN", outside_store="com.example.Store")
    assert "com.example.Store stores its offsets" in (column(Measure.UNKNOWN).suppressed(0) or "")


def test_a_stalled_group_says_where_and_since_when(cluster: Cluster) -> None:
    detail = {"topic": "Orders", "broker": "broker-a", "queue_id": 3, "still_seconds": 720, "lag_messages": 9}
    a_behind_group(cluster, state="STALL", rule="blocked", detail=detail, since=ago(720))
    value, said = of_group(Measure.STATE)
    assert value == "STALL"
    assert said == "blocked · queue 3 of Orders on broker-a: no commit for 12 min, lag 9 messages"
    assert column(Measure.STATE).since(0) == ago(720)


def test_an_offset_that_somebody_set_from_here_is_spared(cluster: Cluster) -> None:
    detail = {"topic": "Orders", "broker": "broker-a", "queue_id": 0}
    group = a_behind_group(cluster, state="REWIND", rule="offset_went_back", detail=detail, since=ago(30))
    assert column(Measure.STATE).suppressed(0) is None
    assert "not by Consumerscope" in column(Measure.STATE).evidence(0)
    reset = a_reset(group, kind=ResetKind.EARLIEST, status="done")
    a_reset_queue(reset, before=90, target=10, written_at=ago(40), outcome="confirmed")
    assert (column(Measure.STATE).suppressed(0) or "").startswith("reset by")


BOUND = '{"code": "dispatch_behind", "broker": "broker-a", "behind_bytes": 67108864}'


def a_bound_group(cluster: Cluster, at_least: int) -> None:
    group = a_behind_group(cluster, lag=None, unknown_reason=BOUND)
    GroupTotal.objects.filter(group=group).update(lag_messages_at_least=at_least)


def test_a_lower_bound_of_the_lag_passes_a_condition_and_fails_none(cluster: Cluster) -> None:
    a_bound_group(cluster, 9)
    found = column(Measure.LAG)
    assert (found.values[0], found.is_bound(0)) == (9, True)
    assert found.reason(0) == "broker-a has stored 67 MB that it has not dispatched: its lags are lower bounds"


def test_a_lower_bound_is_no_time_for_which_a_group_is_unknown(cluster: Cluster) -> None:
    a_bound_group(cluster, 9)
    assert of_group(Measure.UNKNOWN)[0] == 0.0


def test_a_lag_that_is_unknown_for_another_reason_is_no_lower_bound(cluster: Cluster) -> None:
    a_behind_group(cluster, lag=None)
    found = column(Measure.LAG)
    assert (found.values[0], found.is_bound(0)) == (None, False)
