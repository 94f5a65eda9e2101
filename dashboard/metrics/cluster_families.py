"""The gauges of brokers, readings and judgements: whether the other gauges are of now."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from consumers.selectors.brokers import ClusterAge
from consumers.selectors.cluster_rows import ClusterRow, PipelineStatus, ReadingRow
from consumers.selectors.limits import Limits
from consumers.selectors.unknown_words import UnknownWord, broker_word

from .exposition import Family, Labels

CLUSTER, BROKER = ("cluster",), ("cluster", "broker")
READING = {
    "seconds": "How long the newest reading took.",
    "calls": "Calls to brokers and name servers of the newest reading.",
    "bytes": "Bytes of the newest reading's answers.",
    "complete": "1 where the newest reading got every broker whole, else 0.",
}

Samples = Iterator[tuple[Labels, float]]


def broker_families(ages: Sequence[ClusterAge], now: datetime, limits: Limits) -> Iterator[Family]:
    yield Family(
        "consumerscope_broker_up", "1 where the newest reading of the broker was good, 0 where it failed.", BROKER,
        _ups(ages, now, limits),
    )  # fmt: skip
    yield Family(
        "consumerscope_broker_reading_age_seconds", "How long ago the broker was last read whole.", BROKER,
        (
            ((cluster.name, broker.name), _age(broker.last_read_at, now))
            for cluster in ages
            for broker in cluster.brokers
            if broker.last_read_at is not None
        ),
    )  # fmt: skip


def reading_families(clusters: Sequence[ClusterRow], now: datetime) -> Iterator[Family]:
    newest = [(cluster.name, cluster.last_reading) for cluster in clusters if cluster.last_reading is not None]
    yield Family(
        "consumerscope_reading_age_seconds",
        "How long ago the newest reading of the cluster was taken.",
        CLUSTER,
        (((name,), _age(reading.taken_at, now)) for name, reading in newest),
    )
    for name, words in READING.items():
        yield Family(f"consumerscope_reading_{name}", words, CLUSTER, _of_readings(newest, name))


def name_server_family(told: Mapping[str, float | None]) -> Family:
    """`told`: seconds by the cluster's name, null where nobody asks."""
    return Family(
        "consumerscope_name_server_age_seconds",
        "How long ago name servers last told the brokers of the cluster.",
        CLUSTER,
        (((name,), seconds) for name, seconds in told.items() if seconds is not None),
    )


def judgement_families(pipeline: PipelineStatus, now: datetime) -> Iterator[Family]:
    until = pipeline.judged_until
    yield Family(
        "consumerscope_judgement_age_seconds",
        "How long ago the newest range ended that was judged.",
        (),
        [] if until is None else [((), _age(until, now))],
    )


def unknown_samples(
    ages: Sequence[ClusterAge], clusters: Sequence[ClusterRow], pipeline: PipelineStatus,
    told: Mapping[str, float | None], now: datetime, limits: Limits,
) -> Samples:  # fmt: skip
    """What is unknown of clusters and of the site, with an empty group and cluster for what is of no single one."""
    for cluster in ages:
        words = {broker_word(broker, now, limits) for broker in cluster.brokers}
        for word in sorted(word for word in words if word is not None):
            yield (cluster.name, "", word), 1
    for name in (name for name, seconds in told.items() if seconds is None):
        yield (name, "", UnknownWord.NAME_SERVER_NOT_ASKED), 1
    for row in clusters:
        if row.last_reading is None:
            yield (row.name, "", UnknownWord.NOT_READ), 1
    if pipeline.judged_until is None:
        yield ("", "", UnknownWord.NOT_JUDGED), 1


def _ups(ages: Sequence[ClusterAge], now: datetime, limits: Limits) -> Samples:
    """Of a broker that was not asked for too long nobody knows whether it is up."""
    for cluster in ages:
        for broker in cluster.brokers:
            word = broker_word(broker, now, limits)
            if word in (None, UnknownWord.BROKER_UNREACHABLE):
                yield (cluster.name, broker.name), int(word is None)


def _of_readings(newest: Sequence[tuple[str, ReadingRow]], name: str) -> Samples:
    for cluster, reading in newest:
        number = getattr(reading, name)
        yield (cluster,), int(number) if isinstance(number, bool) else number


def _age(at: datetime, now: datetime) -> float:
    return (now - at).total_seconds()
