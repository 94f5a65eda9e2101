"""Rows of members and of the queues they own. Each null has its reason beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from consumers.queries.declared import QUEUES, RATE, Number, answer, public

SUBSCRIPTIONS = "topic, expression, expression_type"


@dataclass(frozen=True)
class QueueShare:
    """A queue with the messages per second that are consumed of it, and their share of the group's, from 0 to 1."""

    topic: str
    broker: str
    queue_id: int
    messages_per_second: float
    share: float | None = field(metadata=public("Of the group's messages, from 0 to 1"))


@dataclass(frozen=True)
class QueuePlace:
    topic: str
    broker: str
    queue_id: int


@answer("A value that is unknown or does not exist is null: `unknown` has the reason.")
@dataclass(frozen=True, kw_only=True)
class MemberRow:
    """A present member. `busiest_queue`: the one of which it consumes most."""

    client_id: str
    address: str = field(metadata=public("Of its first connection"))
    connections: dict[str, list[str]] = field(metadata=public("Addresses, by the broker that lists them"))
    language: str
    version: str | None
    online_since: datetime | None
    seen_at: datetime
    listed_since: datetime | None = field(metadata=public("By these brokers, and no others"))
    duplicated_since: datetime | None = field(
        metadata=public("One broker lists two connections under this id: two processes share it")
    )
    subscription: Sequence[Mapping[str, Any]] | None = field(metadata=public(SUBSCRIPTIONS))
    sub_version: datetime | None = field(
        metadata=public("By its own clock: the last change of its queues or subscriptions")
    )
    strategy: str | None
    orderly: bool | None
    consume_type: str | None
    message_model: str | None
    queues: int | None = field(metadata=public(label=_("Queues"), unit=QUEUES))
    messages_per_second: float | None = field(
        metadata=public(
            "Consumed from its own queues, over the last complete minutes",
            label=_("Consumed"),
            unit=RATE,
            number=Number.RATE,
        )
    )
    share: float | None = field(metadata=public("Of the group's messages, from 0 to 1"))
    busiest_queue: QueueShare | None = field(metadata=public("Of those it owns"))
    never_written: list[QueuePlace] | None = field(metadata=public("Own queues that never had a message"))
    unknown: dict[str, str]


@answer(
    "A queue with one of its owners: a queue with several owners has a row for each. Without "
    "an owner, `unknown` has the reason."
)
@dataclass(frozen=True, kw_only=True)
class AssignmentRow:
    topic: str
    broker: str
    queue_id: int
    owner: str | None = field(metadata=public("Client id; at a past time only where it is certain"))
    seen_since: datetime | None = field(metadata=public("The first answer that reported it"))
    last_seen: datetime | None = field(metadata=public("The last answer that reported it"))
    gone_by: datetime | None = field(metadata=public("The answer that denied it; null while none did"))
    expected_owner: str | None = field(
        metadata=public("Whom the members' own strategy gives it to; several, with commas, where ids are shared")
    )
    unknown: dict[str, str] = field(default_factory=dict)


class Holding(StrEnum):
    """Who held a queue over a stretch of time, the worst first: in a cell of a picture the worst is shown.

    CHANGED: it went from one owner to another, or to nobody, at a moment between two answers.
    """

    SEVERAL = "several"
    NOBODY = "nobody"
    UNKNOWN = "unknown"
    CHANGED = "changed"
    OWNER = "owner"


class TimelineRun(NamedTuple):
    """Cells in a row that say the same. A tuple, because a picture has ten thousands of them.

    `owners` are places in the timeline's `owners`: one of OWNER, two or more of SEVERAL, of CHANGED those that it went
    from and to as far as known, none else. `since` and `until` bound what is told, not the cells: of OWNER from where
    to where it was seen to hold the queue. `reason`: why an UNKNOWN cell is, the same for all queues that share it.
    """

    cells: int
    holding: Holding
    owners: tuple[int, ...]
    since: datetime
    until: datetime
    reason: str | None


@dataclass(frozen=True)
class TimelineQueue:
    """The runs, oldest first, fill the axis."""

    topic: str
    broker: str
    queue_id: int
    runs: Sequence[TimelineRun]


@dataclass(frozen=True)
class Timeline:
    """`cells` equal cells of `step_seconds` from `since` to `until`. Queues in order of topic, broker and id.

    Retry and dead-letter topics are left out. `unknown_reason`: why there is no picture at all, e.g. of a group whose
    members share every queue; then there are no queues.
    """

    since: datetime
    until: datetime
    step_seconds: float
    cells: int
    owners: Sequence[str]
    queues: Sequence[TimelineQueue]
    unknown_reason: str | None
