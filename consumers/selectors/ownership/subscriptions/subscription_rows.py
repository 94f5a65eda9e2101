"""What members of a group said that they subscribe to, over a range of time, and when they differed in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.selectors.public import INSIDE, answer, public


@dataclass(frozen=True, kw_only=True)
class SubscriptionRow:
    """The group's retry topic has none."""

    client_id: str
    topic: str
    expression: str
    expression_type: str | None
    seen_since: datetime = field(metadata=public("The first answer that said so"))
    last_seen: datetime = field(metadata=public("The last answer that said so"))
    gone_by: datetime | None = field(metadata=public("The answer that said it no more; null: none did"))
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wanted:
    """What some of the members wanted of a topic."""

    expression: str | None = field(metadata=public("Null: not subscribed"))
    expression_type: str | None
    client_ids: Sequence[str]
    unknown: dict[str, str]


@dataclass(frozen=True)
class Difference:
    """Members subscribed differently to a topic."""

    topic: str
    since: datetime
    until: datetime | None = field(metadata=public("Null: still at the end of the range"))
    wanted: Sequence[Wanted] = field(metadata=public("That of most members first"))
    unknown: dict[str, str]


@answer(
    "What members subscribed to is each interval whole; differences are from when to when within the range.",
    name="Beside",
)
@dataclass(frozen=True)
class SubscriptionHistory:
    """Rows by topic, client and time; differences by topic and time."""

    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    subscriptions: Sequence[SubscriptionRow] = field(metadata=INSIDE)
    differences: Sequence[Difference]
    unknown: dict[str, str] = field(metadata=public("Why either list need not be all"))
