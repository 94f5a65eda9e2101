"""What the selectors say of incidents. Field names are those of REST; null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import IncidentStatus


@dataclass(frozen=True)
class SubjectRow:
    """What an incident is of. Names that its kind does not have are null. `title`: as people call it."""

    kind: str
    title: str
    cluster: str | None
    broker: str | None
    group: str | None
    topic: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GroupName:
    cluster: str
    group: str


@dataclass(frozen=True, kw_only=True)
class IncidentRow:
    """`condition`: what its rule looked for, in words. `seconds`: since `started_at`, to its end.

    `value` is the newest known number in the measure's unit, `state` the newest known state, both as of `value_at`;
    `unknown_since` tells that they are not known any more, and `unknown_reason` why. `groups_count`: groups that it
    leaves unknown, the first of them in `groups`. `silence` keeps it from being told, until `silenced_until`.
    """

    id: str
    status: str
    severity: str
    rule: int | None
    rule_name: str
    measure: str
    comparison: str
    threshold: float | None
    states: list[str] | None
    condition: str
    subject: SubjectRow
    started_at: datetime
    fired_at: datetime | None
    clearing_since: datetime | None
    resolved_at: datetime | None
    ending: str | None
    seconds: float
    value: float | None
    worst_value: float | None
    state: str | None
    evidence: str | None
    value_at: datetime | None
    unknown_since: datetime | None
    unknown_reason: str | None
    groups_count: int | None
    groups: list[GroupName]
    owner: str | None
    runbook_url: str | None
    note: str | None
    labels: dict[str, str]
    silence: int | None
    silenced_until: datetime | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    acknowledgement: str | None
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def is_firing(self) -> bool:
        return self.status == IncidentStatus.FIRING

    @property
    def is_open(self) -> bool:
        return self.status != IncidentStatus.RESOLVED


@dataclass(frozen=True)
class IncidentEventRow:
    """One change. `by` is null where the evaluation saw it by itself."""

    sequence: int
    at: datetime
    kind: str
    sentence: str
    by: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AttemptRow:
    """One try of a delivery. `ok` and `seconds` are null where its end was not seen: it may have arrived."""

    number: int
    at: datetime
    seconds: float | None
    ok: bool | None
    answer: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DeliveryRow:
    """One message through a channel. `changes`: how many it tells; `incidents`: ids of the first that they are of.

    `waits_for`: the number of an earlier message that has to go before it; `waits_why`: what it waits for, in words.
    """

    id: str
    channel: int
    channel_name: str
    number: int
    is_test: bool
    status: str
    created_at: datetime
    attempts: int
    next_try_at: datetime | None
    waits_for: int | None
    waits_why: str | None
    sent_at: datetime | None
    error: str | None
    changes: int
    incidents: list[str]
    tries: list[AttemptRow]
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class IncidentDetail(IncidentRow):
    """With all its changes in order, and every message that told of one of them, the newest first."""

    events: list[IncidentEventRow]
    deliveries: list[DeliveryRow]
