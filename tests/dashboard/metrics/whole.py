"""A group of which every number is known, and its samples of consumerscope_*."""

from collections.abc import Callable

from consumers.models import Cluster, ConsumerGroup, GroupWindow
from tests.exposition_parser import Samples
from tests.world import a_group, a_judged_group, a_judged_queue, a_queue, a_snapshot, a_total, ago

Scrape = Callable[[], Samples]


def a_whole_group(cluster: Cluster, name: str = "billing", broker: str = "broker-a") -> ConsumerGroup:
    group = a_group(cluster, name, settled_at=ago(60))
    queue = a_queue(cluster, f"{name}-topic", 1, broker=broker)
    a_snapshot(group, queue, 60, 100)
    a_total(group, 40, dlq_messages=7, expired_messages=3, never_committed_queues=2)
    a_judged_group(
        group, "STALL", rule="blocked", worst_queue=queue, time_lag_seconds=61.5, retry_share=0.2, dlq_day_messages=4,
        drain_seconds=80.5, expires_unconsumed_seconds=7200.0, expiry_forecast="expected",
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
