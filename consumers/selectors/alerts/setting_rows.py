"""Rows of what people set: rules, channels, silences and notes."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from consumers.models import ChannelKind, Comparison, Measure, Severity, State
from consumers.queries.declared import answer, public

from .rows import DeliveryRow


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
    selects: str = field(metadata=public("What it is told of, in words"))
    title_template: str | None
    body_template: str | None
    tells_resolved: bool
    waiting: int = field(metadata=public("Messages that are to go"))
    failing_since: datetime | None = field(
        metadata=public("Since when nothing was taken: whatever fires is told to nobody through it")
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


@answer("While it holds, incidents that it selects are shown and told to nobody. What is null selects everything.")
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
    reason: str
    by: str
    created_at: datetime
    ended_by: str | None = field(metadata=public("Whoever ended it early"))
    incidents: int = field(metadata=public("Open ones that it keeps from being told"))
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
