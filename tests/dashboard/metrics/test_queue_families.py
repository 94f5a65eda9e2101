"""Series of single queues, for the groups that a setting names."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import time_machine
from django.test import Client

from consumers.models import Broker, ConsumerGroup, QueueSample, QueueState
from consumers.vocabulary.states import UnknownReason
from tests.exposition_parser import parsed
from tests.world import (
    NOW,
    a_broker,
    a_cluster,
    a_group,
    a_judged_group,
    a_judged_queue,
    a_queue,
    a_snapshot,
    a_total,
    ago,
    first_stored,
)

pytestmark = pytest.mark.django_db
Scrape = Callable[[str], dict[tuple[str, str], float]]


@pytest.fixture(autouse=True)
def named(settings: Any) -> Iterator[ConsumerGroup]:
    """`billing` is named and 4 and 0 behind on two queues; `audit`, 9 behind, is not."""
    settings.METRICS_QUEUE_GROUPS = ["bill*"]
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster, cluster_name="DefaultCluster")
        billing, audit = a_group(cluster), a_group(cluster, "audit")
        for queue_id, (group, offset, end, seconds) in enumerate(
            ((billing, 96, 100, 61.5), (billing, 50, 50, 0.0), (audit, 1, 10, 7.0))
        ):
            queue = a_queue(cluster, queue_id=queue_id)
            a_snapshot(group, queue, offset, end)
            a_judged_queue(group, queue, time_lag_seconds=seconds)
        for group, lag in ((billing, 4), (audit, 9)):
            a_total(group, lag)
            a_judged_group(group)
        yield billing


@pytest.fixture
def scrape(api: Client) -> Scrape:
    """Values of one family, by group and queue id."""

    def values(family: str) -> dict[tuple[str, str], float]:
        samples = parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]
        of_family = {labels: value for (name, labels), value in samples.items() if name == f"consumerscope_{family}"}
        return {(dict(one).get("group", ""), dict(one).get("queue_id", "")): value for one, value in of_family.items()}

    return values


@pytest.mark.parametrize(
    ("family", "values"),
    [
        ("queue_lag_messages", [4, 0]),
        ("queue_consumer_offset", [96, 50]),
        ("queue_broker_offset", [100, 50]),
        ("queue_time_lag_seconds", [61.5, 0]),
    ],
)
def test_every_queue_of_a_named_group_has_its_numbers(scrape: Scrape, family: str, values: list[float]) -> None:
    assert scrape(family) == {("billing", "0"): values[0], ("billing", "1"): values[1]}


def test_a_store_time_outranks_the_evaluated_wait(scrape: Scrape, named: ConsumerGroup) -> None:
    queue = named.snapshots.get(consumer_offset=96).queue
    QueueSample.objects.create(group=named, queue=queue, offset=96, first_stored_at=ago(35), asked_at=ago(5))
    assert scrape("queue_time_lag_seconds")["billing", "0"] == 30


def test_an_offset_without_a_broker_offset_has_no_lag(scrape: Scrape, named: ConsumerGroup) -> None:
    named.snapshots.filter(consumer_offset=96).update(broker_offset=None, unknown_reason=UnknownReason.NO_BROKER_OFFSET)
    assert scrape("queue_consumer_offset")["billing", "0"] == 96
    for family in ("queue_lag_messages", "queue_broker_offset", "queue_time_lag_seconds"):
        assert scrape(family).keys() == {("billing", "1")}


def test_a_wait_that_was_evaluated_too_long_ago_is_unknown(scrape: Scrape, named: ConsumerGroup) -> None:
    named.judged.__class__.objects.filter(group=named).update(judged_at=ago(7200))
    assert scrape("queue_time_lag_seconds") == {("billing", "1"): 0}


def test_queues_on_a_broker_that_is_not_read_have_none(scrape: Scrape) -> None:
    Broker.objects.update(failing_since=ago(5), error="refused", reachable=False)
    assert scrape("queue_consumer_offset") == {}


def test_queues_of_other_groups_stand_behind_those_of_named_ones(scrape: Scrape, settings: Any) -> None:
    settings.METRICS_QUEUE_SERIES = 1
    assert list(scrape("queue_lag_messages").items()) == [
        (("billing", "0"), 4),
        (("billing", "1"), 0),
        (("audit", "2"), 9),
    ]
    assert scrape("queue_consumer_offset").keys() == {("billing", "0"), ("billing", "1")}


def test_what_is_beyond_the_bound_is_counted_by_family(api: Client, settings: Any) -> None:
    settings.METRICS_QUEUE_GROUP_SERIES = 1
    samples = parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]
    left_out = {
        dict(labels)["family"]: count
        for (name, labels), count in samples.items()
        if name == "consumerscope_series_left_out"
    }
    numbers = ("broker_offset", "consumer_offset", "lag_messages", "time_lag_seconds")
    assert left_out == {f"consumerscope_queue_{number}": 1 for number in numbers}


def test_without_a_named_group_there_is_no_series_of_a_queue(scrape: Scrape, settings: Any) -> None:
    settings.METRICS_QUEUE_GROUPS = []
    assert scrape("queue_lag_messages") == scrape("queue_consumer_offset") == {}


def kinds(api: Client) -> dict[str, tuple[str, float]]:
    """Kind and value of the time lag, by queue id."""
    samples = parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]
    waits = {
        labels: value for (name, labels), value in samples.items() if name == "consumerscope_queue_time_lag_seconds"
    }
    return {dict(labels)["queue_id"]: (dict(labels)["kind"], value) for labels, value in waits.items()}


def test_a_time_lag_says_whether_it_is_a_lower_bound(api: Client, named: ConsumerGroup) -> None:
    QueueState.objects.filter(group=named, time_lag_seconds=61.5).update(time_lag_kind="at_least")
    assert kinds(api) == {"0": ("at_least", 61.5), "1": ("exact", 0)}


def test_a_lag_that_is_newer_than_the_evaluation_has_the_time_lag_that_polls_tell(
    api: Client, named: ConsumerGroup
) -> None:
    QueueState.objects.filter(group=named).update(time_lag_seconds=0.0)
    named.snapshots.update(**first_stored(12.5))
    assert kinds(api) == {"0": ("interpolated", 7.5), "1": ("exact", 0)}


def test_a_broker_that_hides_messages_tells_how_long_the_first_one_waits(api: Client, scrape: Scrape) -> None:
    """As REST does: the lag and an empty queue are not known."""
    Broker.objects.update(dispatch_behind_bytes=64 * 2**20)
    assert kinds(api) == {"0": ("exact", 61.5)}
    assert scrape("queue_lag_messages") == {}
