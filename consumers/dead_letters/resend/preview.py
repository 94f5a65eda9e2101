"""What a planned re-send will do, beyond its rows: who gets the messages, and what to know before it is started."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from consumers.errands.read_only import why_read_only
from consumers.models import ConsumerGroup, Destination, Resend, ResendItem, ResendOutcome
from consumers.selectors.retries.load_facts import group_facts

from .outlook import outlook
from .receivers import receivers


@dataclass(frozen=True)
class Preview:
    """`receivers`: groups, as far as readings have seen them. `refusals`: what would not be planned (any more)."""

    receivers: list[str]
    warnings: list[str]
    refusals: list[str]


def preview(group: ConsumerGroup, destination: Destination, topics: set[str], now: datetime) -> Preview:
    """`topics`: where the messages came from."""
    to_group = destination == Destination.GROUP
    said = outlook(group_facts(group.cluster.name, group.name, now), to_group=to_group)
    who = [group.name] if to_group else receivers(group.cluster, topics)
    locked = why_read_only(group.cluster.name)
    return Preview(who, said.warnings, [*([locked] if locked else []), *said.refusals])


def preview_of(resend_id: UUID, now: datetime) -> Preview:
    resend = Resend.objects.select_related("group__cluster").get(pk=resend_id)
    items = ResendItem.objects.filter(resend=resend_id, outcome=ResendOutcome.PLANNED).order_by()
    topics = {topic for topic in items.values_list("target_topic", flat=True).distinct() if topic}
    return preview(resend.group, Destination(resend.destination), topics, now)
