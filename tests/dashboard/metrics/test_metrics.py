"""GET /metrics: what is known is a sample, what is not is absent with its cause beside it."""

from collections.abc import Callable, Iterator

import pytest
import time_machine
from django.test import Client

from consumers.models import Broker, Cluster, ConsumerGroup, GroupWindow, PipelineRun, Reading
from consumers.polling.reading import AHEAD
from consumers.polling.record.totals import RETIRED_ONLY
from tests.exposition_parser import Samples, parsed
from tests.world import (
    NOW,
    a_broker,
    a_client,
    a_cluster,
    a_dead_broker,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
)

pytestmark = pytest.mark.django_db
Scrape = Callable[[], Samples]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster, file_reserved_hours=72)
        PipelineRun.objects.create(since=ago(60), until=ago(25), started_at=ago(24), finished_at=ago(20))
        yield cluster


@pytest.fixture
def scrape(api: Client, cluster: Cluster) -> Scrape:
    return lambda: parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]


def a_whole_group(cluster: Cluster, name: str = "billing", broker: str = "broker-a") -> ConsumerGroup:
    group = a_group(cluster, name, settled_at=ago(60))
    queue = a_queue(cluster, f"{name}-topic", 1, broker=broker)
    a_snapshot(group, queue, 60, 100)
    a_total(group, 40, dlq_messages=7, expired_messages=3, never_committed_queues=2)
    a_judged_group(
        group, "STALL", rule="blocked", worst_queue=queue, time_lag_seconds=61.5, retry_share=0.2, dlq_day_messages=4,
        drain_seconds=80.5,
    )  # fmt: skip
    a_judged_queue(group, queue, "STALL", time_lag_seconds=61.5)
    for minutes in range(5):
        a_minute(group, minutes)
    return group


def a_minute(group: ConsumerGroup, minutes: int = 0) -> None:
    """So many before the newest that was judged whole: the run's end lies in the one after that."""
    volumes = {"into_retry": 3, "out_of_retry": 2, "into_dlq": 1, "consumed": 90}
    start = ago(120 + 60 * minutes)
    GroupWindow.objects.create(group=group, step_seconds=60, start=start, readings=4, **volumes)


def of_group(samples: Samples, group: str = "billing") -> dict[str, float]:
    """By name, with the labels that a family adds."""
    return {
        " ".join([name.removeprefix("consumerscope_"), *sorted(set(dict(labels).values()) - {"prod", group})]): value
        for (name, labels), value in samples.items()
        if dict(labels).get("group") == group and name.startswith("consumerscope_")
    }


def test_a_known_group_has_all_its_numbers_and_no_cause(cluster: Cluster, scrape: Scrape) -> None:
    a_whole_group(cluster)
    assert of_group(scrape()) == {
        "group_lag_messages": 40,
        "group_lag_messages_at_least": 40,
        "group_time_lag_seconds exact": 61.5,
        "group_state STALL": 1,
        "group_members": 2,
        "group_consume_rate": 12,
        "group_produce_rate": 12,
        "group_rebalances_hour": 0,
        "group_rebalances_day": 0,
        "group_minute_messages into_retry": 3,
        "group_minute_messages out_of_retry": 2,
        "group_minute_messages into_dlq": 1,
        "group_minute_messages consumed": 90,
        "group_expires_in_seconds": 72 * 3600 - 61.5,
        "group_drain_seconds": 80.5,
        "group_dlq_inflow_messages": 5,
        "group_unowned_queues": 0,
        "group_doubly_owned_queues": 0,
        "group_blocked_seconds": 0,
        "group_dlq_messages": 7,
        "group_dlq_day_messages": 4,
        "group_retry_share": 0.2,
        "group_expired_messages": 3,
        "group_never_committed_queues": 2,
    }


def test_a_zero_that_was_read_is_a_zero(cluster: Cluster, scrape: Scrape) -> None:
    group = a_group(cluster)
    a_total(group, 0, expired_messages=0)
    a_judged_group(group)
    known = of_group(scrape())
    assert (known["group_lag_messages"], known["group_time_lag_seconds exact"]) == (0, 0)


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
    numbers = {name for name in seen if not name.startswith(("unknown", "group_state"))}
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
        ("untold", "group_time_lag_seconds exact", "time_lag_untold"),
        ("retry_share", "group_retry_share", "retry_share_untold"),
        ("dlq_day_messages", "group_dlq_day_messages", "dlq_day_untold"),
        ("consume_rate", "group_consume_rate", "rates_untold"),
        ("volumes", "group_minute_messages consumed", "volumes_untold"),
        ("inflow", "group_dlq_inflow_messages", "dlq_inflow_untold"),
        ("drain_seconds", "group_drain_seconds", "drain_untold"),
        ("kept", "group_expires_in_seconds", "expiry_untold"),
        ("settling", "group_unowned_queues", "owners_untold"),
        ("silent", "group_blocked_seconds", "owners_untold held_messages_untold"),
    ],
)
def test_what_is_not_known_is_absent_with_one_word_for_each_cause(
    cluster: Cluster, scrape: Scrape, changed: str, absent: str, words: str
) -> None:
    group = a_whole_group(cluster)
    total, judged = group.total, group.judged
    if changed == "total":
        total.lag_messages, total.unknown_queues, total.unknown_reason = None, 1, AHEAD
    if changed in ("outside", "retired"):
        total.lag_messages, total.unknown_reason = None, RETIRED_ONLY if changed == "retired" else "kept elsewhere"
        group.outside_store = "RedisStore" if changed == "outside" else None
    if changed in ("members", "membership"):
        group.members, group.membership_error = None, "timed out" if changed == "membership" else None
    if changed in ("dead", "expired"):
        setattr(total, {"dead": "dlq_messages", "expired": "expired_messages"}[changed], None)
    judged.judged_at = ago(9000) if changed == "late" else judged.judged_at
    judged.time_lag_seconds = None if changed == "untold" else judged.time_lag_seconds
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


def test_a_group_that_was_never_read_says_so(cluster: Cluster, scrape: Scrape) -> None:
    a_group(cluster, members=None, online=None, membership_at=None)
    assert of_group(scrape()) == {
        "unknown not_read": 1,
        "unknown not_judged": 1,
        "unknown members_not_asked": 1,
        "group_state UNKNOWN": 1,
    }


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


def test_what_never_happened_has_no_age(cluster: Cluster, scrape: Scrape) -> None:
    PipelineRun.objects.all().delete()
    Reading.objects.all().delete()
    seen = scrape()
    assert {name for name, _labels in seen if "age" in name} == {"consumerscope_broker_reading_age_seconds"}
    causes = {tuple(sorted(labels)) for name, labels in seen if name == "consumerscope_unknown"}
    assert (("cluster", ""), ("group", ""), ("reason", "not_judged")) in causes
    assert (("cluster", "prod"), ("group", ""), ("reason", "not_read")) in causes


def test_groups_of_rocketmq_itself_are_no_groups_of_the_users(cluster: Cluster, scrape: Scrape) -> None:
    a_total(a_group(cluster, "TOOLS_CONSUMER", kind="system"), 99)
    assert of_group(scrape(), "TOOLS_CONSUMER") == {}


def test_it_says_what_rest_says(cluster: Cluster, scrape: Scrape, api: Client) -> None:
    a_dead_broker(cluster)
    for number, broker in enumerate(("broker-a", "broker-b", "broker-a")):
        a_whole_group(cluster, f"group-{number}", broker)
    a_group(cluster, "fresh", members=None, online=None)
    samples = scrape()
    names = ("lag_messages", "lag_messages_at_least", "members", "dlq_messages", "never_committed_queues")
    names += ("retry_share", "dlq_day_messages", "consume_rate", "produce_rate")
    for row in api.get("/api/v1/groups/").json()["results"]:
        seen = of_group(samples, row["group"])
        assert [seen.get(f"group_{name}") for name in names] == [row[name] for name in names]
        assert seen.get(f"group_time_lag_seconds {row['time_lag_kind']}") == row["time_lag_seconds"]
        assert seen[f"group_state {row['state']}"] == 1
        assert (row["lag_messages"] is None) is any(name.startswith("unknown") for name in seen)
