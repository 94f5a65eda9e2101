"""Rows of what people set: rules, channels, silences and notes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .rows import DeliveryRow


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """`sentence` says it in words, `selects` what it looks at. `is_default`: the site came with it.

    `firing` and `pending`: its open incidents; null where rules were not evaluated lately, or it is switched off.
    """

    id: int
    name: str
    key: str | None
    is_default: bool
    enabled: bool
    measure: str
    comparison: str
    threshold: float | None
    states: list[str] | None
    clear_threshold: float | None
    for_seconds: float
    clear_seconds: float
    severity: str
    cluster: str | None
    group_pattern: str | None
    topic: str | None
    labels: dict[str, str]
    overrides: list[dict[str, Any]]
    runbook_url: str | None
    note: str | None
    sentence: str
    selects: str
    firing: int | None
    pending: int | None
    changed_at: datetime
    changed_by: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ChannelRow:
    """`target` is where it goes, without its secrets, which nobody is shown. `rules`: ids; null: all rules.

    `waiting`: messages that are to go. `last_delivery`: the newest message. `failing_since`: since when nothing was
    taken, by the newest try for `failing_why`; until `held_until` nothing but a test is sent.
    """

    id: int
    name: str
    kind: str
    enabled: bool
    target: str
    severities: list[str] | None
    cluster: str | None
    group_pattern: str | None
    labels: dict[str, str]
    rules: list[int] | None
    selects: str
    title_template: str | None
    body_template: str | None
    tells_resolved: bool
    waiting: int
    failing_since: datetime | None
    failing_why: str | None
    held_until: datetime | None
    last_delivery: DeliveryRow | None
    changed_at: datetime
    changed_by: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SilenceRow:
    """`status`: coming, active or past. `selects`: what it keeps quiet, in words. `ended_by`: whoever ended it early.

    `incidents`: open ones that it keeps from being told.
    """

    id: int
    status: str
    cluster: str | None
    group_pattern: str | None
    topic: str | None
    rule: int | None
    rule_name: str | None
    labels: dict[str, str]
    selects: str
    starts_at: datetime
    ends_at: datetime
    reason: str
    by: str
    created_at: datetime
    ended_by: str | None
    incidents: int
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class NoteRow:
    """What people say of groups. `groups`: how many there are that it names."""

    id: int
    position: int
    cluster: str | None
    group_pattern: str
    owner: str | None
    runbook_url: str | None
    note: str | None
    labels: dict[str, str]
    groups: int
    changed_at: datetime
    changed_by: str | None
    unknown: dict[str, str] = field(default_factory=dict)
