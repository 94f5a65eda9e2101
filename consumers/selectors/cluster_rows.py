"""What the selectors say of clusters, their readings, and the pipeline."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class Freshness(StrEnum):
    """fresh · late: the newest is older than it should be · silent: nothing of now is known, of a part or the whole."""

    FRESH = "fresh"
    LATE = "late"
    SILENT = "silent"


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
    id: int
    address: str
    version: str | None
    reachable: bool | None
    last_read_at: datetime | None
    failing_since: datetime | None
    read_from: str | None
    note: str | None
    error: str | None
    calls: int | None
    bytes: int | None
    seconds: float | None
    unknown: dict[str, str]


@dataclass(frozen=True)
class ReadingRow:
    taken_at: datetime
    complete: bool
    calls: int
    bytes: int
    seconds: float
    queues: int
    record_seconds: float | None
    brokers: list[dict[str, object]]
    members: dict[str, object]
    error: str | None


@dataclass(frozen=True)
class ClusterRow:
    """A cluster. `since` is when its freshness began; null with a reason where it was never read.

    `failed_readings` were not whole, `missed_readings` were due and not taken, both in the last hour. `read_only`:
    nobody changes anything on it from here.
    """

    name: str
    namesrv: str
    connection: Connection
    read_only: bool
    brokers: list[BrokerRow]
    last_reading: ReadingRow | None
    freshness: Freshness
    freshness_detail: str
    since: datetime | None
    brokers_read: int
    brokers_listed: int
    failed_readings: int
    missed_readings: int
    readings: list[ReadingRow]
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
