"""Clusters with their brokers and readings, and the freshness of each."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext, gettext_lazy

from consumers.models import Broker, Cluster, Reading
from consumers.queries.declared import INSIDE, answer, copied, public
from consumers.queries.limits import (
    BrokerAge,
    ClusterAge,
    Freshness,
    Limits,
    broker_ages,
    limits,
    missed,
)
from consumers.queries.read_only import read_only_clusters
from consumers.vocabulary.states import MASTER
from consumers.words.marks import chained, clauses, labelled, listed
from consumers.words.reasons import stored_words


# Rows of clusters and their readings.
class Connection(StrEnum):
    PLAIN = "plain"
    TLS = "TLS"
    ANY_HOST_TLS = "TLS, host names not verified"
    UNVERIFIED_TLS = "TLS, certificates not verified"


@dataclass(frozen=True)
class BrokerRow:
    """`id` 0 is the master. A slave is read only in its place: `read_from` then has its address, and `note` says so;
    it also says where a broker was not read for too long, of which `reachable` is then not known.

    `error` is null while the newest reading of this very process was good. `calls`, `bytes`, `seconds` are what the
    newest reading spent on the broker's offsets; a master's hold those of the slave in its place.
    """

    name: str
    id: int = field(metadata=public("0 is the master; a slave is read only in its place"))
    address: str
    version: str | None
    file_reserved_hours: int | None = field(
        metadata=public("How long it keeps messages: a file at least, from its last")
    )
    delete_when: str | None = field(metadata=public("Hours of its day at which it deletes, as `04;16`"))
    disk_max_used_percent: int | None = field(metadata=public("Above this use of its disk it deletes sooner"))
    reachable: bool | None
    last_read_at: datetime | None
    failing_since: datetime | None = field(metadata=public("Null while its newest poll was good"))
    read_from: str | None = field(metadata=public("The slave that was read in the master's place"))
    dispatch_behind_bytes: int | None = field(
        metadata=public(
            "What it has stored and not dispatched: consumers cannot get it, and broker offsets do not count it"
        )
    )
    note: str | None = field(
        metadata=public(
            "That it was not read for too long, how old offsets of a slave may be, or that lags are lower bounds"
        )
    )
    error: str | None = field(metadata=public("Null while the newest poll of this address was good"))
    calls: int | None = field(metadata=public("Of the newest poll, for this broker's offsets"))
    bytes: int | None
    seconds: float | None
    unknown: dict[str, str]

    @property
    def retention(self) -> str | None:
        """In words: `72 h, deleted at 04:00 by its clock, sooner above 75 % disk use`."""
        if self.file_reserved_hours is None:
            return None
        parts = [gettext("%(hours)s h") % {"hours": f"{self.file_reserved_hours:,}"}]
        if times := [f"{hour.strip():0>2}:00" for hour in (self.delete_when or "").split(";") if hour.strip()]:
            parts.append(gettext("deleted at %(times)s by its clock") % {"times": listed(times)})
        if self.disk_max_used_percent is not None:
            parts.append(gettext("sooner above %(percent)s %% disk use") % {"percent": self.disk_max_used_percent})
        return clauses(parts)


CONFIGURED = ("file_reserved_hours", "delete_when", "disk_max_used_percent")


@answer(name="LastReading")
@dataclass(frozen=True)
class ReadingRow:
    taken_at: datetime
    complete: bool
    calls: int = field(metadata=public(label=gettext_lazy("Calls"), unit=gettext_lazy("calls")))
    bytes: int
    seconds: float
    queues: int
    record_seconds: float | None = field(metadata=INSIDE)
    brokers: list[dict[str, object]] = field(metadata=INSIDE)
    members: dict[str, object] = field(metadata=INSIDE)
    error: str | None = field(metadata=public("Why nothing was read at all"))


@dataclass(frozen=True)
class ClusterRow:
    """A cluster. `since` is when its freshness began; null with a reason where it was never read.

    `failed_readings` were not whole, `missed_readings` were due and not taken, both in the last hour. `read_only`:
    nobody changes anything on it from here.
    """

    name: str
    namesrv: str
    connection: Connection
    read_only: bool = field(metadata=public("Nothing is changed on it from here, by a setting"))
    brokers: list[BrokerRow]
    last_reading: ReadingRow | None
    freshness: Freshness
    freshness_detail: str
    since: datetime | None
    brokers_read: int
    brokers_listed: int
    failed_readings: int = field(metadata=public("Of the last hour: not whole"))
    missed_readings: int = field(metadata=public("Of the last hour: due and not taken"))
    readings: list[ReadingRow] = field(metadata=INSIDE)
    unknown: dict[str, str] = field(default_factory=dict)


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
    bounds = {one.id: one.bound_reason(limit) for one in age.brokers if one.unread_reason(now, limit) is None}
    return ClusterRow(
        name=cluster.name,
        namesrv=cluster.namesrv,
        connection=_connection(cluster),
        read_only=read_only,
        brokers=[
            _broker_row(broker, _entry(last, broker), late.get(broker.pk), bounds.get(broker.pk))
            for broker in cluster.brokers.all()
        ],
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
    """A broker that is not read makes its cluster silent. An overdue reading, or one without a name server, makes it
    late, and so do a slave in its master's place and a broker that is behind with its dispatch.
    """
    unread: list[tuple[BrokerAge, str]] = []
    for broker in age.brokers:
        if reason := broker.unread_reason(now, limit):
            unread.append((broker, reason))
    if unread:
        since = [broker.last_read_at for broker, _ in unread]
        known = [at for at in since if at is not None]
        return Freshness.SILENT, chained(reason for _, reason in unread), min(known) if known else None
    if age.newest_reading_at is None or not age.brokers:
        return Freshness.SILENT, age.newest_error or str(NEVER_READ), None
    overdue = age.newest_reading_at + timedelta(seconds=2 * limit.poll_seconds)
    if overdue < now:
        return Freshness.LATE, gettext("the last poll was missed"), age.newest_reading_at
    if age.newest_error is not None:
        return Freshness.LATE, age.newest_error, age.newest_reading_at
    stood_in = [labelled(broker.name, stand_in(broker.read_from)) for broker in age.brokers if broker.read_from]
    bounds = [reason for broker in age.brokers if (reason := broker.bound_reason(limit)) is not None]
    if stood_in or bounds:
        return Freshness.LATE, chained([*stood_in, *bounds]), age.newest_reading_at
    return Freshness.FRESH, gettext("all brokers scraped"), age.newest_reading_at


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


def _broker_row(broker: Broker, entry: dict[str, Any], late: str | None, bound: str | None) -> BrokerRow:
    """`late`: why the broker is unknown although its newest reading did not fail: it is too old, or in the future.
    `bound`: why lags on it are lower bounds.
    """
    error = stored_words(broker.error)
    unread = error or late or (gettext("not read yet") if broker.broker_id == MASTER else str(NOT_ITS_TURN))
    costs = {name: entry.get(name) for name in ("calls", "bytes", "seconds")}
    uncounted = gettext("not part of the newest poll") if broker.broker_id == MASTER else str(COUNTED_WITH_MASTER)
    unknown = {name: unread for name in ("version", "last_read_at") if getattr(broker, name) is None}
    reachable = None if late else broker.reachable
    unknown |= {} if reachable is not None else {"reachable": unread}
    unconfigured = _unconfigured(broker)
    unknown |= {name: unconfigured for name in CONFIGURED if getattr(broker, name) is None}
    behind_bytes = broker.dispatch_behind_bytes if broker.failing_since is None and late is None else None
    if behind_bytes is None:
        unknown["dispatch_behind_bytes"] = _no_dispatch(broker, unread)
    notes = [late, stand_in(broker.read_from) if broker.read_from else None, bound]
    return copied(
        BrokerRow,
        broker,
        id=broker.broker_id,
        reachable=reachable,
        error=error,
        dispatch_behind_bytes=behind_bytes,
        note=chained(filter(None, notes[:1] if late else notes)) or None,
        **costs,
        unknown=unknown | {name: uncounted for name, cost in costs.items() if cost is None},
    )


def _no_dispatch(broker: Broker, unread: str) -> str:
    is_unread = broker.broker_id != MASTER or broker.failing_since is not None or broker.last_read_at is None
    return unread if is_unread else stored_words(broker.dispatch_error) or unread


def _unconfigured(broker: Broker) -> str:
    if broker.broker_id != MASTER:
        return gettext("only masters are asked for their configuration")
    if broker.config_at is None:
        return stored_words(broker.config_error) or gettext("its configuration was not read yet")
    return gettext("not in its configuration")


def reading_row(reading: Reading) -> ReadingRow:
    return copied(ReadingRow, reading, error=stored_words(reading.error))
