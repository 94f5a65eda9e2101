"""Rows of groups: field names are those of REST, and each null has its reason beside it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any

from django.utils.translation import gettext, gettext_lazy as _

from consumers.groups.queue_rows import STALE, QueueRow
from consumers.models import GroupKind, HealthLevel, State, TimeLagKind, TopicKind
from consumers.ownership.rows import SUBSCRIPTIONS, MemberRow
from consumers.queries.declared import CLIENTS, INSIDE, MESSAGES, QUEUES, RATE, Number, answer, public
from consumers.queries.queues.starts import TagSampleRow
from consumers.vocabulary.reasons import VolumeReason
from consumers.vocabulary.states import RuleCode, UnknownReason

from .health import HealthReason


# What is wrong in a group, beyond its state: named, with its numbers and what to do.
@answer("What is wrong beyond the state. Without a topic: about the group as a whole.")
@dataclass(frozen=True)
class Anomaly:
    """`name` is stable. Without a topic it is about the group as a whole; else about `queue_ids` of one topic on one
    broker. `since` is null where nobody saw it begin, with the reason in `unknown`.
    """

    name: str = field(metadata=public("Stable; docs/anomalies.md lists them"))
    topic: str | None
    broker: str | None
    queue_ids: tuple[int, ...]
    since: datetime | None
    sentence: str
    cure: str
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> str:
        return self.name.replace("_", " ")


# Where a number of a group is stored: GroupState, GroupTotal, or the group itself.
JUDGED, TOTAL, GROUP = "judged", "total", "group"


class ListKind(StrEnum):
    """What a list is of. Ghosts are user groups that nobody uses any more, listed apart from those in use."""

    USER = "user"
    SYSTEM = "system"
    GHOST = "ghost"


@dataclass(frozen=True)
class GroupFilters:
    """`kind` None means every kind. `firing`: whether an incident of it fires (incidents.py). `topic`: one that the
    group has an offset in, or that its members subscribe to. `broker`: one that it has an offset on. `owner` and
    `label`, as NAME=VALUE or NAME: what notes say of it. `names`: exactly these groups, as (cluster, group), of any
    kind.

    `ordering` is a column of ORDERINGS, with `-` before it for descending.
    """

    cluster: str | None = None
    search: str | None = None
    state: State | None = None
    health: HealthLevel | None = None
    online: bool | None = None
    kind: ListKind | None = ListKind.USER
    firing: bool | None = None
    topic: str | None = None
    broker: str | None = None
    owner: str | None = None
    label: str | None = None
    names: tuple[tuple[str, str], ...] | None = None
    ordering: str | None = None


MOST_PLACES = 50


def group_places(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """(cluster, group) of each CLUSTER/GROUP, each once. Raises ValueError with a sentence."""
    texts = tuple(dict.fromkeys(name.strip() for name in names if name.strip()))
    places = tuple((cluster, group) for cluster, _slash, group in (name.rpartition("/") for name in texts))
    if len(texts) > MOST_PLACES:
        raise ValueError(gettext("At most %(n)s groups can be selected at once.") % {"n": MOST_PLACES})
    if wrong := next((name for name, place in zip(texts, places, strict=True) if not all(place)), None):
        raise ValueError(gettext("“%(name)s” names no group: write CLUSTER/GROUP.") % {"name": wrong})
    return places


@answer(
    "Open incidents of one group. A cause that concerns many groups has an incident of its own.", name="OpenIncidents"
)
@dataclass(frozen=True)
class IncidentCounts:
    """Open ones of a group, by the newest evaluation of the rules. Severities are of those that fire."""

    firing: int
    critical: int = field(metadata=public("Of those that fire"))
    warning: int = field(metadata=public("Of those that fire"))
    info: int = field(metadata=public("Of those that fire"))
    pending: int


@dataclass(frozen=True)
class KnownPart:
    """What is known of a number of a span of time, part of which is not known. `since`: when the known part begins;
    null where that is no later than the span's own beginning."""

    value: float = field(
        metadata=public("At least so many dead-lettered messages; or the share over the known part of the hour")
    )
    since: datetime | None = field(metadata=public("When that part begins; null: with the hour or the day"))


@answer("An unknown value is null: `unknown_reason` has the reason for the lag, `unknown` for other fields.")
@dataclass(frozen=True, kw_only=True)
class GroupRow:
    """`taken_at` is the reading that the numbers are from. `time_lag_at` may be an earlier moment than that.
    `lag_messages_at_least` is `lag_messages` where all queues are known.
    """

    id: int = field(metadata=INSIDE)
    cluster: str
    group: str
    kind: GroupKind
    state: State
    stale: bool = field(metadata=public(STALE))
    state_detail: str
    since: datetime | None
    health: HealthLevel = field(
        metadata=public("The worst of state, ownership, retry health checks, DLQ inflow and rebalances")
    )
    health_reasons: tuple[HealthReason, ...] = field(metadata=public("Worst first"))
    flags: tuple[str, ...] = field(metadata=public("Kinds of the group: ghost, paused, …"))
    flag_reasons: dict[str, str] = field(metadata=public("A sentence for each flag"))
    completeness: float | None = field(
        metadata=public(label=_("Evaluated on a full window"), unit=_("of its queues"), number=Number.SHARE)
    )
    lag_messages: int | None = field(
        metadata=public(
            label=_("Lag"),
            unit=MESSAGES,
            column=1,
            tooltip=_("Messages stored but not committed as consumed: max offset minus consumer offset."),
        )
    )
    lag_messages_at_least: int | None = field(
        metadata=public("The sum of the queues that are known", label=_("Lag at least"), unit=MESSAGES)
    )
    never_committed_queues: int | None = field(metadata=public(label=_("Never committed"), unit=QUEUES, stored=TOTAL))
    lost_queues: int | None = field(
        metadata=public(
            "Queues whose committed offset was read before, and is missing on the broker now",
            label=_("Offset lost"),
            unit=QUEUES,
            stored=TOTAL,
        )
    )
    time_lag_seconds: float | None = field(
        metadata=public(
            label=_("Time lag"),
            number=Number.DURATION,
            column=2,
            tooltip=_(
                "How long the oldest unconsumed message has been waiting. ≈ is interpolated, ≥ is a lower bound."
            ),
        )
    )
    time_lag_kind: TimeLagKind
    time_lag_at: datetime | None = field(metadata=public("The point in time of the time lag"))
    consume_rate: float | None = field(
        metadata=public(
            "Messages per second",
            label=_("Consumed"),
            unit=RATE,
            number=Number.RATE,
            stored=JUDGED,
            column=4,
            tooltip=_("Messages that the group commits as consumed per second."),
        )
    )
    produce_rate: float | None = field(
        metadata=public(
            "Messages per second",
            label=_("Produced"),
            unit=RATE,
            number=Number.RATE,
            stored=JUDGED,
            column=3,
            tooltip=_("Messages stored per second in the topics of the group."),
        )
    )
    drain_seconds: float | None = field(
        metadata=public(
            label=_("Time to drain"),
            number=Number.DURATION,
            column=5,
            tooltip=_("Time until the lag is zero at the current rates. Never: the lag does not shrink."),
        )
    )
    expires_unconsumed_seconds: float | None = field(
        default=None,
        metadata=public(
            "Until messages may be deleted before they are consumed: when the time lag reaches the retention, at the "
            "pace at which it rises",
            label=_("Expires unconsumed in"),
            number=Number.DURATION,
            stored=JUDGED,
        ),
    )
    expires_unconsumed_at_most: bool | None = field(
        default=None, metadata=public("A queue that is unknown may lose messages before that")
    )
    members: int | None = field(
        metadata=public(
            label=_("Members"),
            unit=CLIENTS,
            stored=GROUP,
            column=6,
            tooltip=_("Clients of the group that are connected to the brokers."),
        )
    )
    online: bool | None = field(metadata=public(stored=GROUP))
    message_model: str | None
    consume_type: str | None
    retry_rate: float | None = field(
        metadata=public(
            "Messages per second into the retry topic",
            label=_("Into retry"),
            unit=RATE,
            number=Number.RATE,
            stored=JUDGED,
        )
    )
    retry_share: float | None = field(
        metadata=public(
            "Redeliveries per consumed message over the last hour; may exceed 1",
            label=_("Retry share"),
            unit=_("of consumed, 1 h"),
            number=Number.SHARE,
            stored=JUDGED,
            column=7,
            tooltip=_("Redeliveries for each consumed message in the last hour. It can exceed 100 %."),
        )
    )
    dlq_messages: int | None = field(
        metadata=public("Dead-letter messages on the brokers", label=_("DLQ messages"), unit=MESSAGES, stored=TOTAL)
    )
    dlq_day_messages: int | None = field(
        metadata=public(
            "DLQ inflow of 24 h",
            label=_("DLQ 24 h"),
            unit=MESSAGES,
            stored=JUDGED,
            column=8,
            tooltip=_("Messages that were dead-lettered in the last 24 hours."),
        )
    )
    expired_messages: int | None = field(
        metadata=public("Unconsumed, and deleted by the broker", label=_("Expired"), unit=MESSAGES, stored=TOTAL)
    )
    last_rebalance_at: datetime | None = field(metadata=public("The poll that first saw the newest"))
    open_incidents: IncidentCounts | None
    taken_at: datetime | None = field(metadata=public("While the lag is unknown: the last successful poll"))
    judged_at: datetime | None
    unknown_reason: str | None
    unknown_reason_code: UnknownReason | None = None
    unknown: dict[str, str] = field(default_factory=dict)
    unknown_codes: dict[str, VolumeReason] = field(
        default_factory=dict,
        metadata=public("Codes of those reasons that have one: of `retry_share` and `dlq_day_messages`"),
    )
    known_parts: dict[str, KnownPart] = field(
        default_factory=dict,
        metadata=public("What is known of `retry_share` and `dlq_day_messages` where they are null"),
    )


@cache
def stored_in(*places: str) -> tuple[str, ...]:
    """Columns of the list that are shown as they are stored there."""
    return tuple(one.name for one in fields(GroupRow) if one.metadata.get("stored") in places)


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
    kind: str = field(metadata=public(of=TopicKind))
    queues: int
    never_committed_queues: int | None
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    time_lag_at: datetime | None = field(metadata=public("The point in time of the time lag"))
    retired_since: datetime | None = field(metadata=public("No member subscribes to it since: no sum"))
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
    rule_code: str = field(metadata=public(of=RuleCode))


@dataclass(frozen=True, kw_only=True)
class GroupDetail(GroupRow):
    """A group with the rule that decided and the numbers it looked at (`detail`), its topics, members and anomalies.
    Where no rule did, `rule` is the reason, and `rule_code` null.

    While a broker with queues of it is not read, `unknown` says of which queues no anomaly can be told. `queue_rows`:
    its queues, of the same reading as `topics` and the lag, which is their sum.
    """

    rule: str = field(metadata=public("The rule that decided the state, or why none did"))
    rule_code: str | None = field(metadata=public("Null: no rule decided", of=RuleCode))
    detail: dict[str, Any] = field(metadata=public("The numbers that the rule evaluated"))
    worst_queue: WorstQueue | None
    queue_rows: list[QueueRow] = field(metadata=INSIDE)
    topics: list[TopicRow]
    anomalies: list[Anomaly]
    tag_samples: list[TagSampleRow] = field(metadata=public("One for each subscription that leaves something out"))
    subscriptions: Sequence[Mapping[str, Any]] = field(metadata=public(SUBSCRIPTIONS))
    clients: list[MemberRow]
    membership_at: datetime | None
    consume_from_where: str | None
    retry_max_times: int | None
    retry_queue_nums: int | None
