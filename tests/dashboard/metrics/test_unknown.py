"""GET /metrics: what is not known is absent, with its cause beside it."""

import pytest

from consumers.models import Broker, Cluster, GroupWindow, PipelineRun, Reading
from consumers.vocabulary.states import UnknownReason
from tests.dashboard.metrics.whole import Scrape, a_whole_group, of_group
from tests.world import a_broker, a_client, a_group, ago

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ({"last_read_at": ago(5), "failing_since": ago(5), "error": "refused"}, {"broker_unreachable"}),
        ({"last_read_at": ago(300), "failing_since": ago(280), "error": "refused"}, {"broker_unreachable"}),
        ({"last_read_at": None}, {"broker_never_read"}),
        ({"last_read_at": ago(300)}, {"broker_late"}),
    ],
)
def test_a_broker_that_is_not_read_leaves_nothing_but_its_cause_and_a_state(
    cluster: Cluster, scrape: Scrape, broken: dict[str, object], words: set[str]
) -> None:
    a_broker(cluster, "broker-b", **broken)
    a_whole_group(cluster, broker="broker-b")
    seen = of_group(scrape())
    assert {name.removeprefix("unknown ") for name in seen if name.startswith("unknown")} == words
    numbers = {
        name for name in seen if not name.startswith(("unknown", "group_state", "group_health", "finding not_checked"))
    }
    assert numbers <= {"group_lag_messages_at_least"}


@pytest.mark.parametrize(
    ("changed", "absent", "words"),
    [
        ("total", "group_lag_messages", "consumer_ahead"),
        ("outside", "group_lag_messages", "outside_store"),
        ("retired", "group_lag_messages", "retired_only"),
        ("members", "group_members", "members_not_asked"),
        ("membership", "group_members", "members_unread"),
        ("dead", "group_dlq_messages", "dead_letters_unread"),
        ("expired", "group_expired_messages", "min_offsets_unread"),
        ("unjudged", "group_time_lag_seconds exact", "not_judged"),
        ("late", "group_time_lag_seconds exact", "judgement_late"),
        ("unknown", "group_time_lag_seconds exact", "time_lag_unknown"),
        ("retry_share", "group_retry_share", "retry_share_unknown"),
        ("dlq_day_messages", "group_dlq_day_messages", "dlq_day_unknown"),
        ("consume_rate", "group_consume_rate", "rates_unknown"),
        ("volumes", "group_minute_messages consumed", "volumes_unknown"),
        ("inflow", "group_dlq_inflow_messages", "dlq_inflow_unknown"),
        ("drain_seconds", "group_drain_seconds", "drain_unknown"),
        ("no_trend", "group_expires_unconsumed_seconds", "expiry_forecast_unknown"),
        ("kept", "group_expires_in_seconds", "expiry_unknown"),
        ("settling", "group_unowned_queues", "owners_unknown"),
        ("silent", "group_blocked_seconds", "owners_unknown held_messages_unknown"),
    ],
)
def test_what_is_not_known_is_absent_with_one_word_for_each_cause(
    cluster: Cluster, scrape: Scrape, changed: str, absent: str, words: str
) -> None:
    group = a_whole_group(cluster)
    total, judged = group.total, group.judged
    if changed == "total":
        total.lag_messages, total.unknown_queues, total.unknown_reason = None, 1, UnknownReason.CONSUMER_AHEAD
    if changed in ("outside", "retired"):
        total.lag_messages, total.unknown_reason = (
            None,
            UnknownReason.RETIRED_ONLY if changed == "retired" else UnknownReason.OUTSIDE_STORE,
        )
        group.outside_store = "RedisStore" if changed == "outside" else None
    if changed in ("members", "membership"):
        group.members, group.membership_error = None, "timed out" if changed == "membership" else None
    if changed in ("dead", "expired"):
        setattr(total, {"dead": "dlq_messages", "expired": "expired_messages"}[changed], None)
    judged.judged_at = ago(9000) if changed == "late" else judged.judged_at
    judged.time_lag_seconds = None if changed == "unknown" else judged.time_lag_seconds
    if changed == "no_trend":
        judged.expires_unconsumed_seconds, judged.expiry_forecast = None, changed
    if changed == "volumes":
        GroupWindow.objects.update(consumed=None)
    if changed == "inflow":
        GroupWindow.objects.filter(start=ago(360)).delete()
    if changed == "kept":
        Broker.objects.update(file_reserved_hours=None)
    if changed == "settling":
        group.settled_at = None
    if changed == "silent":
        a_client(group, running_info_at=ago(20), running_info_error="timed out")
    if changed in ("retry_share", "dlq_day_messages", "consume_rate", "drain_seconds"):
        setattr(judged, changed, None)
    for row in (group, total, judged):
        row.save()
    if changed == "unjudged":
        judged.delete()
    seen = of_group(scrape())
    assert absent not in seen
    assert [name for name in seen if name.startswith("unknown")] == [f"unknown {word}" for word in words.split()]


def test_owners_that_pop_consumers_do_not_have_are_not_unknown(cluster: Cluster, scrape: Scrape) -> None:
    group = a_whole_group(cluster)
    group.consume_type = "CONSUME_POP"
    group.save()
    seen = of_group(scrape())
    assert {"group_unowned_queues", "group_doubly_owned_queues", "group_blocked_seconds"}.isdisjoint(seen)
    assert [name for name in seen if name.startswith("unknown")] == []
    assert seen["group_excluded popping"] == 1


def test_a_forecast_of_some_queues_is_given_with_a_cause(cluster: Cluster, scrape: Scrape) -> None:
    group = a_whole_group(cluster)
    group.judged.expiry_forecast = "at_most"
    group.judged.save()
    seen = of_group(scrape())
    assert seen["group_expires_unconsumed_seconds"] == 7200
    assert [name for name in seen if name.startswith("unknown")] == ["unknown expiry_forecast_partial"]


def test_a_group_that_was_never_read_says_so(cluster: Cluster, scrape: Scrape) -> None:
    a_group(cluster, members=None, online=None, membership_at=None)
    assert of_group(scrape()) == {
        "unknown not_read": 1,
        "unknown not_judged": 1,
        "unknown members_not_asked": 1,
        "group_state UNKNOWN": 1,
        # Not known, as its metric says it.
        "group_health": 1,
        "finding not_checked unknown": 1,
    }


def test_what_never_happened_has_no_age(cluster: Cluster, scrape: Scrape) -> None:
    PipelineRun.objects.all().delete()
    Reading.objects.all().delete()
    seen = scrape()
    assert {name for name, _labels in seen if "age" in name} == {"consumerscope_broker_reading_age_seconds"}
    causes = {tuple(sorted(labels)) for name, labels in seen if name == "consumerscope_unknown"}
    assert (("cluster", ""), ("group", ""), ("reason", "not_judged")) in causes
    assert (("cluster", "prod"), ("group", ""), ("reason", "not_read")) in causes
