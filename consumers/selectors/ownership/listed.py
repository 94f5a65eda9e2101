"""Who was listed as a member of a group over a range of time, and what each said that it subscribes to."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Min, Q

from consumers.models import Client, ClientSubscription, ConsumerGroup

from .moments import as_text, moment, moment_or_none
from .patience import Patience


class Listing(NamedTuple):
    """A client from its first listing to the whole answer that lacked it. `error`: why it did not answer last."""

    client_id: str
    since: datetime
    gone_by: datetime | None
    error: str | None


class Subscribed(NamedTuple):
    """A client said at `since`, and at `told` still, that it subscribes to the topic; at `gone_by` no more."""

    client_id: str
    topic: str
    since: datetime
    told: datetime
    gone_by: datetime | None


@dataclass(frozen=True)
class Listed:
    """`first_at`: when the first member of all was seen; null: never one."""

    members: list[Listing]
    subscribed: list[Subscribed]
    first_at: datetime | None

    @classmethod
    def of(cls, group: ConsumerGroup, since: datetime, until: datetime) -> "Listed":
        """Three queries."""
        touching = Q(seen_since__lt=until) & (Q(gone_by=None) | Q(gone_by__gt=since))
        members = Client.objects.filter(touching, group=group).order_by("client_id", "seen_since")
        said = ClientSubscription.objects.filter(touching, group=group).order_by("topic", "seen_since")
        first, last, gone_by = as_text("seen_since"), as_text("last_seen"), as_text("gone_by")
        return cls(
            [
                Listing(client_id, moment(begun), moment_or_none(ended), error)
                for client_id, begun, ended, error in members.values_list(
                    "client_id", first, gone_by, "running_info_error"
                )
            ],
            [
                Subscribed(client_id, topic, moment(begun), moment(told), moment_or_none(ended))
                for client_id, topic, begun, told, ended in said.values_list("client_id", "topic", first, last, gone_by)
            ],
            group.clients.aggregate(first=Min("seen_since"))["first"],
        )

    @property
    def silent(self) -> frozenset[str]:
        """Present members that did not answer when they were asked last."""
        return frozenset(member.client_id for member in self.members if member.error and member.gone_by is None)

    def answered(self, patience: Patience) -> dict[str, list[tuple[datetime, datetime]]]:
        """By client id, from one answer to another, as far as subscriptions tell."""
        spans: dict[str, list[tuple[datetime, datetime]]] = {}
        for one in self.subscribed:
            end = patience.until(one.client_id, one.told) if one.gone_by is None else one.told
            spans.setdefault(one.client_id, []).append((one.since, end))
        return spans
