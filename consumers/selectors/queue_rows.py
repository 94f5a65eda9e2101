"""What the selectors say of one queue of one group. Null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import State, TimeLagKind, TopicKind
from consumers.selectors.public import answer, public


@answer("What is not known is null: `unknown_reason` says why the lag is, `unknown` why other fields are.")
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
    kind: str = field(metadata=public(of=TopicKind))
    min_offset: int | None
    broker_offset: int | None
    pull_offset: int | None
    consumer_offset: int | None
    lost_offset: int | None = field(
        metadata=public("The last offset that was read, of a queue whose offset is gone from its broker")
    )
    lost_at: datetime | None = field(metadata=public("The last reading that had it"))
    would_start_at: int | None = field(metadata=public("Where a member starts without an offset"))
    would_start_rule: str | None
    would_skip_messages: int | None = field(metadata=public("From lost_offset to would_start_at"))
    would_redeliver_messages: int | None = field(metadata=public("From would_start_at to lost_offset"))
    lag_messages: int | None
    in_flight: int | None
    ready: int | None
    expired_messages: int | None
    unacked_messages: int | None = field(
        metadata=public("Popped and not acknowledged by present members; POP groups only")
    )
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_error_seconds: float | None
    time_lag_at: datetime | None = field(metadata=public("The moment that the time lag is of"))
    state: State | None = field(metadata=public("Null: dead letters, retired topics"))
    stale: bool = field(
        metadata=public("Evaluations are late: the state is that of judged_at, and nothing polled since contradicts it")
    )
    rule: str | None
    state_detail: str
    since: datetime | None
    provisional: bool | None
    owner: str | None = field(metadata=public("Client id; several, with commas, where several hold it"))
    expected_owner: str | None
    taken_at: datetime | None
    judged_at: datetime | None
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)
