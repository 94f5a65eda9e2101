"""What else a rebalance was told by: queues that came or went, what members say of themselves, brokers, stuck pulls.

Each function gives an array of JSON texts, one entry of evidence each, for rows of events.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.queue_arrays import MICROSECONDS

from .evidence_text import moment, texts
from .observations import is_readable

# A queue that nobody pulled from for so long is let go and taken anew (RocketMQ 5.4.0, ProcessQueue.isPullExpired).
STUCK_SECONDS = 120


def queue_count(durations: Durations) -> Column:
    """Per topic: queues that were first seen, or became readable or unreadable, before members can have noticed, and
    that nobody held yet, or somebody still held."""
    since = F.col("started_before_us") - round(durations.rebalance_patience_seconds * MICROSECONDS)
    last = F.col("end_us")

    def is_news(queue: Column) -> Column:
        text = F.concat_ws("\n", queue["topic"], queue["broker"], queue["queue_id"].cast("string"))
        was_held = F.array_contains("held_before", text)
        is_so, was_so = is_readable(queue, last), is_readable(queue, since)
        return (
            F.array_contains("topics", queue["topic"]) & (is_so != was_so) & F.coalesce(was_held != is_so, F.lit(True))
        )

    moved = F.filter("queues", is_news)
    topics = F.array_sort(F.array_distinct(moved["topic"]))

    def count(topic: Column, at_us: Column) -> Column:
        return F.size(F.filter("queues", lambda one: (one["topic"] == topic) & is_readable(one, at_us)))

    def noticed(topic: Column) -> Column:
        own = F.filter(moved, lambda one: one["topic"] == topic)
        return F.array_min(F.transform(own, lambda one: F.greatest(one["first_seen_us"], one["readable_us"])))

    return texts(
        "queue count",
        topics,
        lambda topic: {
            "topic": topic,
            "before": count(topic, since),
            "after": count(topic, last),
            "at": moment(noticed(topic)),
        },
    )


def subscription() -> Column:
    def lines(of: Column, other: Column) -> Column:
        only = F.array_except(F.split(of, "\n"), F.split(other, "\n"))
        return F.array_join(only, "; ")

    return texts(
        "subscription",
        F.filter("said", lambda one: one["subscription_changed"]),
        lambda one: {
            "client_id": one["client_id"],
            "before": lines(one["previous"]["subscription"], one["subscription"]),
            "after": lines(one["subscription"], one["previous"]["subscription"]),
            "at": moment(one["at_us"]),
        },
    )


def strategy() -> Column:
    return texts(
        "strategy",
        F.filter("said", lambda one: one["strategy_changed"]),
        lambda one: {
            "client_id": one["client_id"],
            "before": one["previous"]["strategy"],
            "after": one["strategy"],
            "at": moment(one["at_us"]),
        },
    )


def broker(durations: Durations) -> Column:
    """Brokers of its topics that could not be read any more, or again, around it."""
    since = F.col("started_before_us") - round(durations.rebalance_patience_seconds * MICROSECONDS)
    near = F.filter("brokers", lambda one: one["at_us"].between(since, F.col("last_change_us")))
    return texts(
        "broker",
        near,
        lambda one: {
            "broker": one["broker"],
            "at": F.when(~one["is_read"], moment(one["at_us"])),
            "read_again_at": F.when(one["is_read"], moment(one["at_us"])),
        },
    )


def pull_stuck() -> Column:
    """A member took the same queues anew, of which it had not pulled from one for long."""
    anew = F.filter(
        "said", lambda one: one["touched"] & ~one["moved"] & ~one["restarted"] & ~one["subscription_changed"]
    )

    def stuck(change: Column) -> Column:
        old = F.filter(
            change["previous"]["queues"],
            lambda one: one["last_pull_us"] <= change["at_us"] - STUCK_SECONDS * MICROSECONDS,
        )
        return F.transform(old, lambda one: F.struct(change.alias("change"), one.alias("queue")))

    return texts(
        "pull stuck",
        F.flatten(F.transform(anew, stuck)),
        lambda one: {
            "client_id": one["change"]["client_id"],
            "topic": one["queue"]["topic"],
            "broker": one["queue"]["broker"],
            "queue_id": one["queue"]["queue_id"],
            "last_pull": moment(one["queue"]["last_pull_us"]),
            "at": moment(one["change"]["at_us"]),
        },
    )
