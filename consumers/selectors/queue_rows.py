"""What the selectors say of one queue of one group. Null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import State, TimeLagKind
from consumers.vocabulary.unknown import UnknownReason


@dataclass(frozen=True, kw_only=True)
class QueueRow:
    """`unknown_reason` says why `lag_messages` is null, `unknown` why other fields are.

    `kind` is the topic's as this group sees it: another group's dead letters are a normal topic to it.
    `state` is null for the group's own dead letters and for retired topics, which nobody judges. `since` is when it
    began. `stale`: evaluations are late, and it is the last one's, of `judged_at`. `lost_offset`: the last offset that
    was read of a queue whose offset is gone from its broker, at `lost_at`; `would_start_at` is where a member would
    start there, and what that skips or redelivers, compared with it.
    """

    topic: str
    broker: str
    queue_id: int
    kind: str
    min_offset: int | None
    broker_offset: int | None
    pull_offset: int | None
    consumer_offset: int | None
    lost_offset: int | None
    lost_at: datetime | None
    would_start_at: int | None
    would_start_rule: str | None
    would_skip_messages: int | None
    would_redeliver_messages: int | None
    lag_messages: int | None
    in_flight: int | None
    ready: int | None
    expired_messages: int | None
    unacked_messages: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_error_seconds: float | None
    time_lag_at: datetime | None
    state: State | None
    stale: bool
    rule: str | None
    rule_code: str | None
    state_detail: str
    since: datetime | None
    provisional: bool | None
    owner: str | None
    expected_owner: str | None
    taken_at: datetime | None
    judged_at: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None = None
    unknown: dict[str, str] = field(default_factory=dict)
