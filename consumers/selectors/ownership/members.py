"""The members of a group as last seen, and how much each consumes."""

from datetime import datetime, timedelta
from typing import Any

from consumers.models import Client, ConsumerGroup
from consumers.selectors.brokers import broker_ages
from consumers.selectors.limits import limits
from consumers.selectors.overlay import NOT_SAMPLED, iso

from .member_work import FIELDS, MemberWork
from .rows import MemberRow

NOT_ASKED = "its members have not been asked for yet"
UNNOTED = "it was not noted since when its brokers list it"
NO_DOUBLE = "no broker lists two connections under its id"
# Where a client says of itself what brokers know only of the last one that registered (RocketMQ 5.4.0,
# ConsumerGroupInfo): MQClientInstance.consumerRunningInfo and MixAll.object2Properties.
CONSUME_TYPE, MESSAGE_MODEL = "PROP_CONSUME_TYPE", "messageModel"


def member_list(group: ConsumerGroup, *, now: datetime) -> list[MemberRow]:
    """The clients of the newest full membership answer, by client id. The number of queries is fixed."""
    present = list(Client.objects.filter(group=group, gone_by=None).order_by("client_id"))
    if not present:
        return []
    work = MemberWork.of(group, now)
    return [_member_row(client, group, work) for client in present]


def members_unknown(group: ConsumerGroup, *, now: datetime) -> str | None:
    """Why the members need not be those that are listed; null while every broker has said so lately."""
    known = limits()
    brokers = broker_ages([group.cluster_id])[group.cluster_id].brokers
    unread = next((reason for broker in brokers if (reason := broker.unread_reason(now, known))), None)
    if group.membership_at is None:
        return group.membership_error or unread or NOT_ASKED
    if unread is None and group.membership_at < now - timedelta(seconds=known.kinds.evidence_seconds):
        unread = f"not every broker has said since {iso(group.membership_at)} who is in the group"
    return group.membership_error or unread


def _member_row(client: Client, group: ConsumerGroup, work: MemberWork) -> MemberRow:
    answered = client.running_info_at is not None and client.running_info_error is None
    silent = client.running_info_error or NOT_SAMPLED
    said = client.settings or {}
    values: dict[str, Any] = {
        "version": client.version,
        "online_since": client.started_at,
        "listed_since": client.listed_since,
        "duplicated_since": client.duplicated_since,
        "subscription": client.subscriptions,
        "sub_version": client.sub_version,
        "strategy": client.strategy,
        "orderly": client.orderly,
        "consume_type": said.get(CONSUME_TYPE) or group.consume_type,
        "message_model": said.get(MESSAGE_MODEL) or group.message_model,
        # A member that answered and holds nothing holds zero queues: that was read.
        "queues": len(work.held.get(client.client_id, ())) if answered else None,
    }
    consumed, unconsumed = work.of_member(client.client_id) if answered else (dict.fromkeys(FIELDS), {})
    values |= consumed
    reasons = dict.fromkeys(values, "the client does not say" if answered else silent) | unconsumed
    reasons |= {"version": "the broker does not say", "listed_since": UNNOTED, "duplicated_since": NO_DOUBLE}
    return MemberRow(
        client_id=client.client_id,
        address=client.address,
        connections=client.connections,
        language=client.language,
        seen_at=client.last_seen,
        unknown={name: reasons[name] for name, value in values.items() if value is None},
        **values,
    )
