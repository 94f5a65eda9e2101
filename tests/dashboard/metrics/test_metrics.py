"""GET /metrics: what is known is a sample."""

import pytest
from django.test import Client

from consumers.models import Cluster, Reading
from tests.dashboard.metrics.whole import Scrape, a_whole_group, of_group
from tests.world import a_broker, a_dead_broker, a_group, a_judged_group, a_total

pytestmark = pytest.mark.django_db


def test_a_known_group_has_all_its_numbers_and_no_cause(cluster: Cluster, scrape: Scrape) -> None:
    a_whole_group(cluster)
    assert of_group(scrape()) == {
        "group_lag_messages": 40,
        "group_lag_messages_at_least": 40,
        "group_time_lag_seconds exact": 61.5,
        "group_state STALL": 1,
        "group_health": 3,
        "group_members": 2,
        "group_consume_rate": 12,
        "group_produce_rate": 12,
        "group_rebalances_hour": 0,
        "group_rebalances_hour_at_least": 0,
        "group_rebalances_day": 0,
        "group_rebalances_day_at_least": 0,
        "group_minute_messages into_retry": 3,
        "group_minute_messages out_of_retry": 2,
        "group_minute_messages into_dlq": 1,
        "group_minute_messages consumed": 90,
        "group_expires_in_seconds": 72 * 3600 - 61.5,
        "group_expires_in_seconds_at_most": 72 * 3600 - 61.5,
        "group_expires_unconsumed_seconds": 7200,
        "group_drain_seconds": 80.5,
        "group_dlq_inflow_messages": 5,
        "group_repeat_events_hour": 0,
        "group_repeat_events_hour_at_least": 0,
        "group_redelivered_messages_hour": 0,
        "group_redelivered_messages_hour_at_least": 0,
        "group_unsettled_seconds": 0,
        "group_unowned_queues": 0,
        "group_unowned_queues_at_least": 0,
        "group_doubly_owned_queues": 0,
        "group_doubly_owned_queues_at_least": 0,
        "group_blocked_seconds": 0,
        "group_blocked_seconds_at_least": 0,
        "group_dlq_messages": 7,
        "group_dlq_day_messages": 4,
        "group_retry_share": 0.2,
        "group_expired_messages": 3,
        "group_never_committed_queues": 2,
        "group_lost_queues": 0,
        # The worker has not checked it yet.
        "finding not_checked unknown": 1,
    }


def test_a_zero_that_was_read_is_a_zero(cluster: Cluster, scrape: Scrape) -> None:
    group = a_group(cluster)
    a_total(group, 0, expired_messages=0)
    a_judged_group(group)
    known = of_group(scrape())
    assert (known["group_lag_messages"], known["group_time_lag_seconds exact"]) == (0, 0)


def test_it_says_of_brokers_and_readings_how_old_they_are(cluster: Cluster, scrape: Scrape) -> None:
    a_dead_broker(cluster)
    a_broker(cluster, "broker-c", last_read_at=None)
    Reading.objects.update(complete=False)
    seen = {
        (name.removeprefix("consumerscope_"), dict(labels).get("broker")): value
        for (name, labels), value in scrape().items()
        if not name.endswith("unknown") and name.startswith("consumerscope_")
    }
    assert seen == {
        ("broker_up", "broker-a"): 1,
        ("broker_up", "broker-b"): 0,
        ("broker_reading_age_seconds", "broker-a"): 5,
        ("broker_reading_age_seconds", "broker-b"): 300,
        ("reading_age_seconds", None): 5,
        ("name_server_age_seconds", None): 5,
        ("reading_seconds", None): 0.41,
        ("reading_calls", None): 4,
        ("reading_bytes", None): 1900,
        ("reading_complete", None): 0,
        ("judgement_age_seconds", None): 25,
    }


def test_groups_of_rocketmq_itself_are_no_groups_of_the_users(cluster: Cluster, scrape: Scrape) -> None:
    a_total(a_group(cluster, "TOOLS_CONSUMER", kind="system"), 99)
    assert of_group(scrape(), "TOOLS_CONSUMER") == {}


def test_it_says_what_rest_says(cluster: Cluster, scrape: Scrape, api: Client) -> None:
    a_dead_broker(cluster)
    for number, broker in enumerate(("broker-a", "broker-b", "broker-a")):
        a_whole_group(cluster, f"group-{number}", broker)
    a_group(cluster, "fresh", members=None, online=None)
    samples = scrape()
    names = (
        "lag_messages",
        "lag_messages_at_least",
        "members",
        "dlq_messages",
        "never_committed_queues",
        "lost_queues",
    )
    names += ("retry_share", "dlq_day_messages", "consume_rate", "produce_rate")
    for row in api.get("/api/v1/groups/").json()["results"]:
        seen = of_group(samples, row["group"])
        assert [seen.get(f"group_{name}") for name in names] == [row[name] for name in names]
        assert seen.get(f"group_time_lag_seconds {row['time_lag_kind']}") == row["time_lag_seconds"]
        assert seen[f"group_state {row['state']}"] == 1
        assert (row["lag_messages"] is None) is any(name.startswith("unknown") for name in seen)
