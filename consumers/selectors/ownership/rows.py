"""What the selectors say of members and of the queues they own. Null stands with its reason beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


@dataclass(frozen=True)
class QueueShare:
    """A queue with the messages per second that are consumed of it, and their share of the group's, from 0 to 1."""

    topic: str
    broker: str
    queue_id: int
    messages_per_second: float
    share: float | None


@dataclass(frozen=True)
class QueuePlace:
    topic: str
    broker: str
    queue_id: int


@dataclass(frozen=True, kw_only=True)
class MemberRow:
    """A present member. `messages_per_second` is the sum over the queues it owns, over the last whole minutes.

    `share` of the group's messages is from 0 to 1. `busiest_queue` and `never_written` are of the queues it owns: the
    one of which it consumes most, and those into which no message was ever written.
    """

    client_id: str
    address: str
    connections: dict[str, list[str]]
    language: str
    version: str | None
    online_since: datetime | None
    seen_at: datetime
    listed_since: datetime | None
    duplicated_since: datetime | None
    subscription: list[dict[str, str]] | None
    sub_version: datetime | None
    strategy: str | None
    orderly: bool | None
    consume_type: str | None
    message_model: str | None
    queues: int | None
    messages_per_second: float | None
    share: float | None
    busiest_queue: QueueShare | None
    never_written: list[QueuePlace] | None
    unknown: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class AssignmentRow:
    """A queue and one owner of it; a queue with several has a row for each. Without one `unknown["owner"]` says why.

    It was seen to hold the queue from `seen_since` to `last_seen`, and no more at `gone_by`.
    """

    topic: str
    broker: str
    queue_id: int
    owner: str | None
    seen_since: datetime | None
    last_seen: datetime | None
    gone_by: datetime | None
    expected_owner: str | None
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
