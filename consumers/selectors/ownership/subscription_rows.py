"""What members of a group said that they subscribe to, over a range of time, and when they differed in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class SubscriptionRow:
    """A client said so from `seen_since` to `last_seen`, and at `gone_by` no more. The group's retry topic has none."""

    client_id: str
    topic: str
    expression: str
    expression_type: str | None
    seen_since: datetime
    last_seen: datetime
    gone_by: datetime | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What some of the members wanted of a topic; `expression` null: they did not subscribe to it."""

    expression: str | None
    expression_type: str | None
    client_ids: Sequence[str]
    unknown: dict[str, str]


@dataclass(frozen=True)
class Difference:
    """Members subscribed differently to a topic from `since` on, up to `until`; null: they still do."""

    topic: str
    since: datetime
    until: datetime | None
    wanted: Sequence[Wanted]
    unknown: dict[str, str]


@dataclass(frozen=True)
class SubscriptionHistory:
    """Rows by topic, client and time; differences by topic and time. `unknown`: why either need not be all."""

    since: datetime
    until: datetime
    subscriptions: Sequence[SubscriptionRow]
    differences: Sequence[Difference]
    unknown: dict[str, str]
