"""Clusters with their brokers and readings, and the freshness of each."""

from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from consumers.models import Broker, Cluster, Reading
from consumers.queries.brokers import BrokerAge, ClusterAge, broker_ages
from consumers.queries.limits import Freshness, Limits, limits, missed
from consumers.queries.read_only import read_only_clusters
from consumers.vocabulary.brokers import MASTER

from .rows import BrokerRow, ClusterRow, Connection, ReadingRow

HOUR = timedelta(hours=1)
READINGS_SHOWN = 20
NEVER_READ = gettext_lazy("not polled yet")
COUNTED_WITH_MASTER = gettext_lazy("counted with its master")
NOT_ITS_TURN = gettext_lazy("a slave is read only while its master does not answer")


def cluster_list(now: datetime, *, name: str | None = None) -> list[ClusterRow]:
    """All clusters by name, each with its brokers and its readings of the last hour, newest first.

    Five queries, two more where clusters are marked read-only.
    """
    clusters = Cluster.objects.order_by("name").prefetch_related("brokers")
    if name is not None:
        clusters = clusters.filter(name=name)
    ages, limit = broker_ages(), limits()
    recent: dict[int, list[Reading]] = {}
    for reading in Reading.objects.filter(taken_at__gt=now - HOUR, taken_at__lte=now).order_by("taken_at"):
        recent.setdefault(reading.cluster_id, []).append(reading)
    marked = read_only_clusters()
    return [
        _cluster_row(
            cluster, ages[cluster.pk], recent.get(cluster.pk, []), now, limit, read_only=cluster.name in marked
        )
        for cluster in clusters
    ]


def _cluster_row(
    cluster: Cluster, age: ClusterAge, recent: list[Reading], now: datetime, limit: Limits, *, read_only: bool
) -> ClusterRow:
    # A reading older than an hour is still the last one.
    last = recent[-1] if recent else Reading.objects.filter(cluster=cluster).first()
    freshness, detail, since = cluster_freshness(age, now, limit)
    late = {one.id: one.unread_reason(now, limit) for one in age.brokers if one.failing_since is None}
    return ClusterRow(
        name=cluster.name,
        namesrv=cluster.namesrv,
        connection=_connection(cluster),
        read_only=read_only,
        brokers=[_broker_row(broker, _entry(last, broker), late.get(broker.pk)) for broker in cluster.brokers.all()],
        last_reading=reading_row(last) if last else None,
        freshness=freshness,
        freshness_detail=detail,
        since=since,
        brokers_read=sum(broker.unread_reason(now, limit) is None for broker in age.brokers),
        brokers_listed=len(age.brokers),
        failed_readings=sum(not reading.complete for reading in recent),
        missed_readings=missed(
            [reading.taken_at for reading in recent],
            limit.poll_seconds,
            now,
            since=min(now, max(cluster.created_at, now - HOUR)),
        ),
        readings=[reading_row(reading) for reading in reversed(recent[-READINGS_SHOWN:])],
        unknown=({} if last else {"last_reading": str(NEVER_READ)}) | ({} if since else {"since": detail}),
    )


def cluster_freshness(age: ClusterAge, now: datetime, limit: Limits) -> tuple[Freshness, str, datetime | None]:
    """A broker that is not read makes its cluster silent; an overdue reading, or one without a name server, makes it
    late.
    """
    unread: list[tuple[BrokerAge, str]] = []
    for broker in age.brokers:
        if reason := broker.unread_reason(now, limit):
            unread.append((broker, reason))
    if unread:
        since = [broker.last_read_at for broker, _ in unread]
        known = [at for at in since if at is not None]
        return Freshness.SILENT, "; ".join(reason for _, reason in unread), min(known) if known else None
    if age.newest_reading_at is None or not age.brokers:
        return Freshness.SILENT, age.newest_error or str(NEVER_READ), None
    overdue = age.newest_reading_at + timedelta(seconds=2 * limit.poll_seconds)
    if overdue < now:
        return Freshness.LATE, gettext("the last poll was missed"), age.newest_reading_at
    if age.newest_error is not None:
        return Freshness.LATE, age.newest_error, age.newest_reading_at
    stood_in = [f"{broker.name}: {stand_in(broker.read_from)}" for broker in age.brokers if broker.read_from]
    if stood_in:
        return Freshness.LATE, "; ".join(stood_in), age.newest_reading_at
    return Freshness.FRESH, gettext("every broker was read"), age.newest_reading_at


def stand_in(slave: str) -> str:
    """Every 3 s a slave checks whether its copy of the master's offsets is over a minute old (5.4.0,
    BrokerController).
    """
    return gettext("read from slave %(slave)s; its consumer offsets may lag by up to 63 s") % {"slave": slave}


def _connection(cluster: Cluster) -> Connection:
    if cluster.tls is None:
        return Connection.PLAIN
    if not cluster.tls["verify"]:
        return Connection.UNVERIFIED_TLS
    return Connection.ANY_HOST_TLS if cluster.tls.get("any_host") else Connection.TLS


def _entry(last: Reading | None, broker: Broker) -> dict[str, Any]:
    """A master's entry in the newest reading; slaves are counted with it."""
    entries = last.brokers if last is not None and broker.broker_id == MASTER else []
    return next((entry for entry in entries if entry["name"] == broker.name), {})


def _broker_row(broker: Broker, entry: dict[str, Any], late: str | None) -> BrokerRow:
    """`late`: why the broker is unknown although its newest reading did not fail: it is too old, or in the future."""
    unread = broker.error or late or (gettext("not read yet") if broker.broker_id == MASTER else str(NOT_ITS_TURN))
    costs = {name: entry.get(name) for name in ("calls", "bytes", "seconds")}
    uncounted = gettext("not part of the newest poll") if broker.broker_id == MASTER else str(COUNTED_WITH_MASTER)
    unknown = {name: unread for name in ("version", "last_read_at") if getattr(broker, name) is None}
    reachable = None if late else broker.reachable
    unknown |= {} if reachable is not None else {"reachable": unread}
    return BrokerRow(
        name=broker.name,
        id=broker.broker_id,
        address=broker.address,
        version=broker.version,
        reachable=reachable,
        last_read_at=broker.last_read_at,
        failing_since=broker.failing_since,
        read_from=broker.read_from,
        note=late or (stand_in(broker.read_from) if broker.read_from else None),
        error=broker.error,
        **costs,
        unknown=unknown | {name: uncounted for name, cost in costs.items() if cost is None},
    )


def reading_row(reading: Reading) -> ReadingRow:
    return ReadingRow(
        taken_at=reading.taken_at,
        complete=reading.complete,
        calls=reading.calls,
        bytes=reading.bytes,
        seconds=reading.seconds,
        queues=reading.queues,
        record_seconds=reading.record_seconds,
        brokers=reading.brokers,
        members=reading.members,
        error=reading.error,
    )
