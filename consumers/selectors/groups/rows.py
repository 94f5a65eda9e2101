"""What the selectors say of groups. Field names are those of the REST API; null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from consumers.models import GroupKind, HealthLevel, State, TimeLagKind
from consumers.selectors.anomalies.rows import Anomaly
from consumers.selectors.health.rows import HealthReason
from consumers.selectors.ownership.rows import MemberRow
from consumers.selectors.queue_rows import QueueRow
from consumers.selectors.tag_samples import TagSampleRow
from consumers.vocabulary.unknown import UnknownReason
from consumers.vocabulary.volumes import VolumeReason


class ListKind(StrEnum):
    """What a list is of. Ghosts are user groups that nobody uses any more, listed apart from those in use."""

    USER = "user"
    SYSTEM = "system"
    GHOST = "ghost"


@dataclass(frozen=True)
class GroupFilters:
    """`kind` None means every kind. `firing`: whether an incident of it fires (incidents.py).

    `ordering` is a column of ORDERINGS, with `-` before it for descending.
    """

    cluster: str | None = None
    search: str | None = None
    state: State | None = None
    health: HealthLevel | None = None
    online: bool | None = None
    kind: ListKind | None = ListKind.USER
    firing: bool | None = None
    ordering: str | None = None


@dataclass(frozen=True)
class IncidentCounts:
    """Open ones of a group, by the newest evaluation of the rules. Severities are of those that fire."""

    firing: int
    critical: int
    warning: int
    info: int
    pending: int


@dataclass(frozen=True)
class KnownPart:
    """What is known of a number of a span of time, part of which is not known. `since`: when the known part begins;
    null where that is no later than the span's own beginning."""

    value: float
    since: datetime | None


@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """One group. `unknown_reason` says why `lag_messages` is null, `unknown` why other fields are.

    `taken_at` is the reading that the numbers are from: while they are unknown, the last good one.
    `lag_messages_at_least` is the sum of the queues that are known; equal to `lag_messages` where all are.
    `time_lag_at` is the moment that the time lag is of: it may be an earlier one than the lag's `taken_at`.
    `unknown_codes`: of the reasons of volumes in `unknown`.
    `known_parts`, by field: what is known of `retry_share` and `dlq_day_messages` where they are null.
    `stale`: evaluations are late, and the state is the last one's, of `judged_at`.
    `health` is the worst of `health_reasons`, which stand worst first.
    """

    id: int
    cluster: str
    group: str
    kind: GroupKind
    state: State
    stale: bool
    state_detail: str
    since: datetime | None
    health: HealthLevel
    health_reasons: tuple[HealthReason, ...]
    flags: tuple[str, ...]
    flag_reasons: dict[str, str]
    completeness: float | None
    lag_messages: int | None
    lag_messages_at_least: int | None
    never_committed_queues: int | None
    lost_queues: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_at: datetime | None
    consume_rate: float | None
    produce_rate: float | None
    drain_seconds: float | None
    members: int | None
    online: bool | None
    message_model: str | None
    consume_type: str | None
    retry_rate: float | None
    retry_share: float | None
    dlq_messages: int | None
    dlq_day_messages: int | None
    expired_messages: int | None
    last_rebalance_at: datetime | None
    open_incidents: IncidentCounts | None
    taken_at: datetime | None
    judged_at: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None = None
    unknown: dict[str, str] = field(default_factory=dict)
    unknown_codes: dict[str, VolumeReason] = field(default_factory=dict)
    known_parts: dict[str, KnownPart] = field(default_factory=dict)


@dataclass(frozen=True)
class GroupPage:
    """`count` rows in all, shown `page_size` at a time: this is page `page` of `pages`, both from 1."""

    rows: list[GroupRow]
    count: int
    page: int
    pages: int


@dataclass(frozen=True)
class TopicRow:
    """The queues of one topic that a group has. Null sums: one of the queues is unknown.

    `retired_since` is null while a member subscribes to it; a retired topic has no part in the group's sums and state.
    """

    topic: str
    kind: str
    queues: int
    never_committed_queues: int | None
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    time_lag_at: datetime | None
    retired_since: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None
    unknown: dict[str, str]


@dataclass(frozen=True)
class WorstQueue:
    topic: str
    broker: str
    queue_id: int
    state: State
    rule: str
    rule_code: str


@dataclass(frozen=True, kw_only=True)
class GroupDetail(GroupRow):
    """A group with the rule that decided and the numbers it looked at (`detail`), its topics, members and anomalies.
    Where no rule did, `rule` is the reason, and `rule_code` null.

    While a broker with queues of it is not read, `unknown` says of which queues no anomaly can be told. `queue_rows`:
    its queues, of the same reading as `topics` and the lag, which is their sum.
    """

    rule: str
    rule_code: str | None
    detail: dict[str, Any]
    worst_queue: WorstQueue | None
    queue_rows: list[QueueRow]
    topics: list[TopicRow]
    anomalies: list[Anomaly]
    tag_samples: list[TagSampleRow]
    subscriptions: list[dict[str, str]]
    clients: list[MemberRow]
    membership_at: datetime | None
    consume_from_where: str | None
    retry_max_times: int | None
    retry_queue_nums: int | None
