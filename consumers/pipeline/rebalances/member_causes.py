"""Who came, went, or came back, in a rebalance: by the intervals in which brokers listed each member.

Each function gives an array of JSON texts, one entry of evidence each; `events` are prepared by with_comings.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.queue_arrays import MICROSECONDS

from .evidence_text import moment, texts

# Its running info failed for so long before it went: RocketMQ 5.4.0, ClientHousekeepingService and ConsumerManager,
# drop a connection without heart-beats after 120 s.
SILENT_SECONDS = 90

SECOND_PROCESS = "a second process under this id"


def with_comings(events: DataFrame) -> DataFrame:
    """Adds arrays of intervals: came (without one right before under the same id), went (without one after), doubled;
    and returned: array of (old, new), another connection or another start under the same id."""
    first, last = F.col("started_before_us"), F.col("last_change_us")
    found = events.withColumns(
        {
            "were": F.filter("clients", lambda one: (one["seen_us"] < first) & _is_there(one, first - 1)),
            "are": F.filter("clients", lambda one: (one["seen_us"] <= last) & _is_there(one, last)),
            "begun": F.filter("clients", lambda one: one["seen_us"].between(first, last)),
            "ended": F.filter("clients", lambda one: one["gone_us"].between(first, last)),
            "doubled": F.filter("clients", lambda one: one["doubled_us"].between(first, F.col("end_us"))),
        }
    )
    stayed = F.filter(
        "are", lambda one: (one["seen_us"] >= first) & F.array_contains(F.col("were.client_id"), _id(one))
    )
    returned = F.transform(stayed, lambda one: F.struct(_of_id("were", one).alias("old"), one.alias("new")))
    found = found.withColumn("returned", returned)
    came = F.filter("begun", lambda one: ~F.array_contains(F.col("were.client_id"), _id(one)) & ~_has_earlier(one))
    went = F.filter("ended", lambda one: ~F.array_contains(F.col("are.client_id"), _id(one)) & ~_has_later(one))
    # Without both start times nobody knows whether it is the same process: one went and one came.
    unclear = F.filter("returned", lambda one: _same_start(one).isNull())
    return found.withColumns({"came": F.concat(came, unclear["new"]), "went": F.concat(went, unclear["old"])}).drop(
        "were", "are", "begun", "ended"
    )


def joined() -> Column:
    came = texts(
        "joined", "came", lambda one: {"client_id": _id(one), "address": one["address"], "at": moment(one["seen_us"])}
    )
    doubled = texts(
        "joined",
        "doubled",
        lambda one: {"client_id": _id(one), "as": F.lit(SECOND_PROCESS), "at": moment(one["doubled_us"])},
    )
    return F.concat(came, doubled)


def gone() -> Column:
    return _lost("gone", lambda one: ~_was_silent(one), {})


def silent() -> Column:
    return _lost("silent", _was_silent, {"silent_since": lambda one: moment(_failing_since(one))})


def reconnected() -> Column:
    kept = F.filter("returned", lambda one: F.coalesce(_same_start(one), F.lit(False)))
    return texts(
        "reconnected",
        kept,
        lambda one: {
            "client_id": _id(one["new"]),
            "before": one["old"]["address"],
            "after": one["new"]["address"],
            "at": moment(one["new"]["seen_us"]),
        },
    )


def restarted() -> Column:
    """By its interval, or by its own answers where brokers still list the same connection."""
    anew = F.filter("returned", lambda one: F.coalesce(~_same_start(one), F.lit(False)))
    listed = texts(
        "restarted",
        anew,
        lambda one: {
            "client_id": _id(one["new"]),
            "address": one["new"]["address"],
            "before": moment(one["old"]["started_us"]),
            "after": moment(one["new"]["started_us"]),
            "at": moment(one["new"]["seen_us"]),
        },
    )
    # What a member that came anew said before it had gone is told by its coming.
    told = F.concat(F.col("returned")["new"]["client_id"], F.col("came.client_id"))
    said = F.filter("said", lambda one: one["restarted"] & ~F.array_contains(told, _id(one)))
    return F.concat(
        listed,
        texts(
            "restarted",
            said,
            lambda one: {
                "client_id": _id(one),
                "before": moment(one["previous"]["started_us"]),
                "after": moment(one["started_us"]),
                "at": moment(one["at_us"]),
            },
        ),
    )


def _lost(cause: str, test: Callable[[Column], Column], more: dict[str, Callable[[Column], Column]]) -> Column:
    return texts(
        cause,
        F.filter("went", test),
        lambda one: {
            "client_id": _id(one),
            "address": one["address"],
            "last_seen": moment(one["last_seen_us"]),
            "at": moment(one["gone_us"]),
            **{name: of(one) for name, of in more.items()},
        },
    )


def _was_silent(client: Column) -> Column:
    seconds = (client["gone_us"] - _failing_since(client)) / F.lit(float(MICROSECONDS))
    return F.coalesce(seconds >= SILENT_SECONDS, F.lit(False))


def _failing_since(client: Column) -> Column:
    """Since when it did not answer any more; null where it last did, or nobody asked."""
    own = F.filter(
        "failing",
        lambda one: (
            (_id(one) == _id(client))
            & one["at_us"].between(client["seen_us"], client["gone_us"])
            & F.coalesce(one["since_us"] > client["answered_us"], F.lit(True))
        ),
    )
    return F.array_max(own["since_us"])


def _is_there(client: Column, at_us: Column) -> Column:
    return F.coalesce(client["gone_us"] > at_us, F.lit(True))


def _id(row: Column) -> Column:
    return row["client_id"]


def _of_id(name: str, client: Column) -> Column:
    return F.get(F.filter(name, lambda one: _id(one) == _id(client)), F.lit(0))


def _has_earlier(client: Column) -> Column:
    return F.exists("begun", lambda one: (_id(one) == _id(client)) & (one["seen_us"] < client["seen_us"]))


def _has_later(client: Column) -> Column:
    return F.exists("ended", lambda one: (_id(one) == _id(client)) & (one["gone_us"] > client["gone_us"]))


def _same_start(pair: Column) -> Column:
    """Null where one of them was not told; and where the earlier one came later: another process had the id too."""
    old, new = pair["old"]["started_us"], pair["new"]["started_us"]
    return F.when(new >= old, new == old)
