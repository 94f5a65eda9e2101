"""What the selectors say of one queue of one group. Null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from consumers.models import State, TimeLagKind, TopicKind
from consumers.selectors.public import MESSAGES, OFFSET, answer, public
from consumers.vocabulary.rules import RuleCode
from consumers.vocabulary.unknown import UnknownReason

STALE = "Evaluations are late: the state is that of judged_at, and nothing polled since contradicts it"


@answer("What is not known is null: `unknown_reason` says why the lag is, `unknown` why other fields are.")
@dataclass(frozen=True, kw_only=True)
class QueueRow:
    """`kind` is the topic's as this group sees it: another group's dead letters are a normal topic to it. `since`: when
    its state began.
    """

    topic: str
    broker: str
    queue_id: int
    kind: str = field(metadata=public(of=TopicKind))
    min_offset: int | None = field(metadata=public(label=_("Min"), unit=OFFSET))
    broker_offset: int | None = field(metadata=public(label=_("Broker"), unit=OFFSET))
    pull_offset: int | None = field(metadata=public(label=_("Pulled"), unit=OFFSET))
    consumer_offset: int | None = field(metadata=public(label=_("Consumer"), unit=OFFSET))
    lost_offset: int | None = field(
        metadata=public(
            "The last offset that was read, of a queue whose offset is gone from its broker",
            label=_("Last known"),
            unit=OFFSET,
        )
    )
    lost_at: datetime | None = field(metadata=public("The last reading that had it"))
    would_start_at: int | None = field(metadata=public("Where a member starts without an offset"))
    would_start_rule: str | None
    would_skip_messages: int | None = field(
        metadata=public("From lost_offset to would_start_at", label=_("Skips"), unit=MESSAGES)
    )
    would_redeliver_messages: int | None = field(
        metadata=public("From would_start_at to lost_offset", label=_("Redelivers"), unit=MESSAGES)
    )
    lag_messages: int | None
    in_flight: int | None = field(metadata=public(label=_("In flight"), unit=MESSAGES))
    ready: int | None = field(metadata=public(label=_("Ready"), unit=MESSAGES))
    expired_messages: int | None
    unacked_messages: int | None = field(
        metadata=public("Popped and not acknowledged by present members; POP groups only")
    )
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_error_seconds: float | None
    time_lag_at: datetime | None = field(metadata=public("The moment that the time lag is of"))
    state: State | None = field(metadata=public("Null: dead letters, retired topics"))
    stale: bool = field(metadata=public(STALE))
    rule: str | None
    rule_code: str | None = field(metadata=public(of=RuleCode))
    state_detail: str
    since: datetime | None
    provisional: bool | None
    owner: str | None = field(metadata=public("Client id; several, with commas, where several hold it"))
    expected_owner: str | None
    taken_at: datetime | None
    judged_at: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None = None
    unknown: dict[str, str] = field(default_factory=dict)
