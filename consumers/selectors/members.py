"""The members of a group as last seen."""

from typing import Any

from django.db.models import Count

from consumers.models import Assignment, Client, ConsumerGroup
from consumers.selectors.groups.rows import MemberRow

from .overlay import NOT_BUILT, NOT_SAMPLED


def member_list(group: ConsumerGroup) -> list[MemberRow]:
    """The clients of the newest full membership answer, by client id. Two queries."""
    held = Assignment.objects.filter(group=group, gone_by=None).values("client_id").annotate(queues=Count("pk"))
    queues = {row["client_id"]: row["queues"] for row in held.order_by()}
    present = Client.objects.filter(group=group, gone_by=None).order_by("client_id")
    return [_member_row(client, group, queues.get(client.client_id)) for client in present]


def _member_row(client: Client, group: ConsumerGroup, queues: int | None) -> MemberRow:
    answered = client.running_info_at is not None and client.running_info_error is None
    silent = client.running_info_error or NOT_SAMPLED
    values: dict[str, Any] = {
        "version": client.version,
        "online_since": client.started_at,
        "subscription": client.subscriptions,
        "strategy": client.strategy,
        "consume_type": group.consume_type,
        "message_model": group.message_model,
        # A member that answered and holds nothing holds zero queues: that was read.
        "queues": (queues or 0) if answered else None,
        "messages_per_second": None,
    }
    reasons = dict.fromkeys(values, silent) | {"messages_per_second": NOT_BUILT, "version": "the broker does not say"}
    return MemberRow(
        client_id=client.client_id,
        address=client.address,
        language=client.language,
        seen_at=client.last_seen,
        unknown={name: reasons[name] for name, value in values.items() if value is None},
        **values,
    )
