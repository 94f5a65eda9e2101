"""Rows of incidents and of what people set: rules, channels, silences and notes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from consumers.alerts.weekly import DAYS
from consumers.models import (
    ChannelKind,
    Comparison,
    DeliveryStatus,
    Ending,
    IncidentEventKind,
    IncidentStatus,
    Measure,
    Severity,
    State,
    SubjectKind,
)
from consumers.queries.declared import answer, public


@dataclass(frozen=True)
class SubjectRow:
    """What an incident is of. Names that its kind does not have are null. `title`: as people call it."""

    kind: str = field(metadata=public(of=SubjectKind))
    title: str = field(metadata=public("As people call it: `prod/billing on Orders`"))
    cluster: str | None
    broker: str | None
    group: str | None
    topic: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class GroupName:
    cluster: str
    group: str


@answer(
    "One time that a rule held for one subject. What is not known, or has not happened, is null: `unknown` says why."
    "\n\nA value that becomes unknown neither fires nor resolves it: `unknown_since` and `unknown_reason` tell of it."
)
@dataclass(frozen=True, kw_only=True)
class IncidentRow:
    """`value` is in the measure's unit. `silence` keeps it from being told, until `silenced_until`."""

    id: str = field(metadata=public(of=UUID))
    status: str = field(metadata=public(of=IncidentStatus))
    severity: str = field(metadata=public(of=Severity))
    rule: int | None = field(metadata=public("Its id"))
    rule_name: str
    measure: str = field(metadata=public(of=Measure))
    comparison: str = field(metadata=public(of=Comparison))
    threshold: float | None = field(metadata=public("In the measure's unit"))
    states: list[str] | None = field(metadata=public(of=State))
    condition: str = field(metadata=public("What its rule looked for, in words"))
    subject: SubjectRow
    started_at: datetime = field(metadata=public("Since when the condition passes"))
    fired_at: datetime | None
    clearing_since: datetime | None = field(metadata=public("Since when it does not hold, while it is open"))
    resolved_at: datetime | None
    ending: str | None = field(metadata=public(of=Ending))
    seconds: float = field(metadata=public("From its start to its end, or until this answer"))
    value: float | None = field(metadata=public("The newest known one, as of `value_at`"))
    worst_value: float | None
    state: str | None = field(metadata=public("The newest known one, as of `value_at`", of=State))
    evidence: str | None = field(metadata=public("The numbers, as of `value_at`"))
    evidence_code: str | None = field(metadata=public("Null where `evidence` is null"))
    value_at: datetime | None
    unknown_since: datetime | None
    unknown_reason: str | None = field(metadata=public("Why its value is unknown; null while it is known"))
    unknown_reason_code: str | None = field(metadata=public("Null where the reason has no code"))
    groups_count: int | None = field(metadata=public("Groups that it leaves unknown"))
    groups: list[GroupName] = field(metadata=public("The first of them"))
    owner: str | None
    runbook_url: str | None
    note: str | None
    labels: dict[str, str]
    silence: int | None = field(metadata=public("The id of the silence that holds its notifications back"))
    silenced_until: datetime | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None
    acknowledgement: str | None = field(metadata=public("The comment of whoever acknowledged it"))
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

    sequence: int = field(metadata=public("From 1, within the incident"))
    at: datetime
    kind: str = field(metadata=public(of=IncidentEventKind))
    sentence: str
    sentence_code: str | None = field(metadata=public("Null for a sentence of an earlier version"))
    by: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("One try of a delivery.")
@dataclass(frozen=True)
class AttemptRow:
    """One try of a delivery. `ok` and `seconds` are null where its end was not seen: it may have arrived."""

    number: int
    at: datetime
    seconds: float | None
    ok: bool | None
    answer: str | None = field(metadata=public("What was answered, or why nothing was"))
    unknown: dict[str, str] = field(default_factory=dict)


@answer("One message through a channel: it bears the same id however often it is tried.")
@dataclass(frozen=True, kw_only=True)
class DeliveryRow:
    id: str = field(metadata=public(of=UUID))
    channel: int = field(metadata=public("Its id"))
    channel_name: str
    number: int = field(metadata=public("Of the channel, from 1: those of one incident go in this order"))
    is_test: bool
    status: str = field(metadata=public(of=DeliveryStatus))
    created_at: datetime
    attempts: int
    next_try_at: datetime | None
    waits_for: int | None = field(
        metadata=public("The number of an earlier message of one of its incidents, which goes before it")
    )
    waits_why: str | None = field(metadata=public("What it waits for, in words"))
    sent_at: datetime | None
    error: str | None = field(metadata=public("Of the newest try"))
    may_have_arrived: bool = field(
        metadata=public("A try, or an earlier message of the same firing, was accepted, or nobody saw that it was not")
    )
    changes: int = field(metadata=public("Of incidents, that it reports"))
    incidents: list[str] = field(metadata=public("The first 20 that they are of", of=UUID))
    tries: list[AttemptRow]
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class IncidentDetail(IncidentRow):
    """With all its changes in order, and every message that reported one of them, the newest first."""

    events: list[IncidentEventRow] = field(metadata=public("All its changes, in order"))
    deliveries: list[DeliveryRow] = field(metadata=public("Notifications of one of them, the newest first"))


# Texts that may be empty in a row, and null with a reason to whoever reads: an empty text says nothing.
def with_unknown(values: Mapping[str, Any], why: Mapping[str, str]) -> dict[str, Any]:
    """`values` with None for "", and `unknown` with the reason of each None. Each that may be None has a reason."""
    found = {name: None if value == "" else value for name, value in values.items()}
    return {**found, "unknown": {name: why[name] for name, value in found.items() if value is None}}


# What people set.
@answer("What is null selects everything, or is as `unknown` says.")
@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """`firing` and `pending` are null where rules were not evaluated lately, or it is switched off."""

    id: int
    name: str
    key: str | None = field(metadata=public("Of a rule that the site came with"))
    is_default: bool = field(metadata=public("The site came with it: it can be switched off, not removed"))
    enabled: bool
    measure: str = field(metadata=public(of=Measure))
    comparison: str = field(metadata=public(of=Comparison))
    threshold: float | None
    states: list[str] | None = field(metadata=public(of=State))
    findings: list[str] = field(metadata=public("Codes and severities; with `-` before a code: not this one"))
    clear_threshold: float | None
    for_seconds: float
    clear_seconds: float
    severity: str = field(metadata=public(of=Severity))
    cluster: str | None
    group_pattern: str | None
    topic: str | None
    labels: dict[str, str]
    overrides: list[dict[str, Any]]
    runbook_url: str | None
    note: str | None
    sentence: str = field(metadata=public("The rule in words"))
    selects: str = field(metadata=public("What it looks at, in words"))
    firing: int | None = field(metadata=public("Its incidents that fire"))
    pending: int | None
    changed_at: datetime
    changed_by: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@answer("What is null takes everything, or is as `unknown` says. Its address and secrets are never answered.")
@dataclass(frozen=True, kw_only=True)
class ChannelRow:
    id: int
    name: str
    kind: str = field(metadata=public(of=ChannelKind))
    enabled: bool
    target: str = field(metadata=public("Where it goes, without anything that is secret"))
    severities: list[str] | None = field(metadata=public("Null: all", of=Severity))
    cluster: str | None
    group_pattern: str | None
    labels: dict[str, str]
    rules: list[int] | None = field(metadata=public("Their ids; null: all rules"))
    selects: str = field(metadata=public("What it is notified of, in words"))
    title_template: str | None
    body_template: str | None
    tells_resolved: bool
    waiting: int = field(metadata=public("Messages that are to go"))
    failing_since: datetime | None = field(
        metadata=public("Since when nothing was taken: whatever fires is not delivered through it")
    )
    failing_why: str | None = field(metadata=public("What became of the newest try"))
    held_until: datetime | None = field(metadata=public("Until then nothing but tests is sent"))
    last_delivery: DeliveryRow | None
    changed_at: datetime
    changed_by: str | None
    unknown: dict[str, str] = field(default_factory=dict)


class SilenceStatus(StrEnum):
    COMING = "coming"
    ACTIVE = "active"
    PAST = "past"


@dataclass(frozen=True)
class WeeklyRow:
    """`end` is of the next day where it is not after `start`."""

    days: list[str] = field(metadata=public(of=DAYS))
    start: str = field(metadata=public("HH:MM, by the clock of the time zone"))
    end: str = field(metadata=public("HH:MM; of the next day where it is not after the start"))
    time_zone: str = field(metadata=public("As `Europe/Berlin`"))
    text: str = field(metadata=public("The same in words"))


@dataclass(frozen=True)
class SilenceWindow:
    starts_at: datetime
    ends_at: datetime


@answer("While it is active, matching incidents are shown and nobody is notified. A null field matches everything.")
@dataclass(frozen=True, kw_only=True)
class SilenceRow:
    id: int
    status: str = field(metadata=public(of=SilenceStatus))
    cluster: str | None
    group_pattern: str | None
    topic: str | None
    rule: int | None = field(metadata=public("Its id"))
    rule_name: str | None
    labels: dict[str, str]
    selects: str = field(metadata=public("What it keeps quiet, in words"))
    starts_at: datetime
    ends_at: datetime = field(metadata=public("The moment it was ended at, where somebody did that early"))
    weekly: WeeklyRow | None = field(metadata=public("It is active only in these windows of a week"))
    windows: list[SilenceWindow] = field(metadata=public("The next three in which it is active; none once it is over"))
    reason: str
    by: str
    created_at: datetime
    ended_by: str | None = field(metadata=public("Whoever ended it early"))
    incidents: int = field(metadata=public("Open ones whose notifications it holds back"))
    unknown: dict[str, str] = field(default_factory=dict)


@answer(
    "What people say of groups. Of several notes the lowest position that has a field tells it; labels add up.",
    name="GroupNote",
)
@dataclass(frozen=True, kw_only=True)
class NoteRow:
    id: int
    position: int
    cluster: str | None
    group_pattern: str
    owner: str | None
    runbook_url: str | None
    note: str | None
    labels: dict[str, str]
    groups: int = field(metadata=public("So many groups it names"))
    changed_at: datetime
    changed_by: str | None
    unknown: dict[str, str] = field(default_factory=dict)
