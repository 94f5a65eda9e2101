"""Rows of rebalances. Field names are those of REST; each null has its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.queries.declared import answer, public
from consumers.vocabulary.reasons import RebalanceCause


@dataclass(frozen=True)
class RebalanceFilters:
    """`since` and `until` are for the reading that first saw the rebalance: in [since, until).

    Rebalances of RocketMQ's own groups are among those of a named group only. `touching`: also those that began
    before `since` and were still going on then.
    """

    cluster: str | None = None
    group: str | None = None
    cause: RebalanceCause | None = None
    since: datetime | None = None
    until: datetime | None = None
    touching: bool = False


@dataclass(frozen=True)
class Evidence:
    """What one cause was told by, as one sentence and as facts; `log` is the line that RocketMQ writes of it."""

    cause: str
    sentence: str
    facts: dict[str, Any]
    log: "LogLine | None"


@dataclass(frozen=True)
class LogLine:
    """A text to search for, and the file that has it: of the brokers, or of the named member's host."""

    file: str
    text: str


@dataclass(frozen=True)
class Move:
    """A queue that changed hands, had no owner for a while, or two. Null numbers were not told.

    Seconds are as readings sampled them, between `_low` and `_high`.
    """

    topic: str
    broker: str
    queue_id: int
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None
    unowned_seconds: float | None
    unowned_seconds_low: float | None
    unowned_seconds_high: float | None
    doubly_owned_seconds: float | None
    doubly_owned_seconds_low: float | None
    doubly_owned_seconds_high: float | None
    replayed_messages_low: int | None
    replayed_messages: int | None
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def moved(self) -> bool | None:
        """Null where who held it before or after is not known."""
        return None if self.before is None or self.after is None else self.before != self.after


@dataclass(frozen=True)
class Cost:
    """What a rebalance did to queues: of one topic, or of all its topics together."""

    queues: int | None
    queues_moved: int | None
    unowned_queue_seconds: float | None
    doubly_owned_queue_seconds: float | None
    doubly_owned_queues: int | None
    replayed_messages_low: int | None
    replayed_messages: int | None
    lag_before_messages: int | None
    lag_peak_messages: int | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RebalanceEvent:
    """One rebalance with all its topics together. `event` is its name for ever: cluster, group and `started_before`.

    `opening` and `sentence` are of the first of its evidence, and `more` is how much of it there is beside.
    It began between `started_after` (null: no reading before is known) and `started_before`. `settled_seconds` is the
    longest that it can have taken, up to the first of two readings in a row that agree; null while they do not.
    `episode` is how many rebalances belong to its episode: those with less than a minute between the end of one and the
    start of the next.
    """

    id: int
    event: str
    cluster: str
    group: str
    at: str
    started_after: datetime | None
    started_before: datetime
    last_change_at: datetime
    settled_at: datetime | None
    settled_seconds: float | None
    dated_at: datetime | None
    polls: int
    causes: tuple[str, ...]
    opening: str
    sentence: str
    more: int
    members_before: int | None
    members_after: int | None
    rollout: bool
    episode_since: datetime
    episode: int
    cost: Cost
    judged_at: datetime
    unknown: dict[str, str]

    @property
    def settled(self) -> bool:
        return self.settled_at is not None


@dataclass(frozen=True)
class EventPage:
    """`count` events in all, this is page `page` of `pages`, both from 1."""

    rows: list[RebalanceEvent]
    count: int
    page: int
    pages: int


@dataclass(frozen=True)
class TopicCost:
    """`stayed`: the queues that are not among `moves`."""

    topic: str
    cost: Cost
    moves: list[Move]
    stayed: list["Stayed"]


@dataclass(frozen=True)
class Stayed:
    """A queue that kept its owners; null where nobody is known to have held it then."""

    broker: str
    queue_id: int
    owners: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True)
class RebalanceDetail(RebalanceEvent):
    """One rebalance with its evidence, and its topics with the queues that moved."""

    evidence: list[Evidence]
    client_ids_before: list[str] | None
    client_ids_after: list[str] | None
    topics: list[TopicCost]
    others_of_episode: list[RebalanceEvent]


@answer("The effect of a rebalance on one topic. An unknown value is null: `unknown` has the reason.")
@dataclass(frozen=True, kw_only=True)
class RebalanceRow:
    """`topic` null: no topic of the group was known."""

    event: str = field(metadata=public("A permanent name: cluster/group/time; all topics of the rebalance share it"))
    cluster: str
    group: str
    topic: str | None
    started_after: datetime | None = field(metadata=public("The last poll before it"))
    started_before: datetime = field(metadata=public("The first poll that saw a change"))
    last_change_at: datetime = field(metadata=public("The last poll that saw a change"))
    settled: bool
    settled_at: datetime | None = field(metadata=public("The first of two readings in a row that agree"))
    dated_at: datetime | None = field(metadata=public("By the clock of a member"))
    polls: int = field(metadata=public("Readings of the group from the first change to the settled end"))
    cause: str = field(metadata=public(f"One or several, with commas: {', '.join(RebalanceCause)}"))
    evidence: list[dict[str, Any]]
    members_before: int | None
    members_after: int | None
    client_ids_before: list[str] | None
    client_ids_after: list[str] | None
    queues: int | None
    queues_moved: int | None = field(metadata=public("Owned by another member after it than before"))
    unowned_queue_seconds: float | None = field(metadata=public("Summed over queues, as polled"))
    doubly_owned_queue_seconds: float | None
    doubly_owned_queues: int | None
    replayed_messages_low: int | None
    replayed_messages: int | None = field(metadata=public("At most so many"))
    lag_before_messages: int | None
    lag_peak_messages: int | None
    rollout: bool = field(metadata=public("Every member after it has started during its episode, few more than once"))
    episode_since: datetime = field(metadata=public("Shared by rebalances with less than a minute between two"))
    judged_at: datetime
    unknown: dict[str, str]
    codes: dict[str, str] = field(default_factory=dict, metadata=public("{field: the code of why it is null}"))


def words_of(cause: str) -> tuple[str, ...]:
    """The single causes, the first to be named first."""
    return tuple(word.strip() for word in cause.split(",") if word.strip()) or (str(RebalanceCause.UNKNOWN),)
