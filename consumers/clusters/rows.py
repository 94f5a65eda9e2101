"""Rows of clusters, their readings, and the pipeline."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.utils.translation import gettext_lazy as _

from consumers.queries.declared import INSIDE, answer, public
from consumers.queries.limits import Freshness


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
    reachable: bool | None
    last_read_at: datetime | None
    failing_since: datetime | None = field(metadata=public("Null while its newest reading was good"))
    read_from: str | None = field(metadata=public("The slave that was read in the master's place"))
    note: str | None = field(metadata=public("That it was not read for too long, or how old offsets of a slave may be"))
    error: str | None = field(metadata=public("Null while the newest reading of this address was good"))
    calls: int | None = field(metadata=public("Of the newest reading, for this broker's offsets"))
    bytes: int | None
    seconds: float | None
    unknown: dict[str, str]


@answer(name="LastReading")
@dataclass(frozen=True)
class ReadingRow:
    taken_at: datetime
    complete: bool
    calls: int = field(metadata=public(label=_("Calls"), unit=_("calls")))
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


@dataclass(frozen=True)
class PipelineRow:
    since: datetime
    until: datetime
    started_at: datetime
    finished_at: datetime | None
    seconds: float | None
    queues_judged: int | None
    groups_judged: int | None
    error: str | None
    skipped: bool  # there was no new reading


@dataclass(frozen=True)
class PipelineStatus:
    """`judged_until` is the end of the range of the last run that succeeded. Failed and missed: of the last hour."""

    freshness: Freshness
    freshness_detail: str
    since: datetime | None
    judged_until: datetime | None
    last_run: PipelineRow | None
    failed_runs: int
    missed_runs: int
    runs: list[PipelineRow]
    unknown: dict[str, str] = field(default_factory=dict)
