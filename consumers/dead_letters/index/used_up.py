"""Whether a letter died before its retries were used up: then its application sent it to the dead letters.

Only the members of its time know how often they let a message be tried: they say so with each message that they send
back (RocketMQ 5.4.0, AbstractSendMessageProcessor.consumerSendMsgBack).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Q

from consumers.models import Client, ConsumerGroup

# DefaultMQPushConsumerImpl.getMaxReconsumeTimes: -1 stands for it.
UNSET, DEFAULT = "-1", 16
# A member is seen some readings after it began, and its clock is not the broker's.
SLACK = timedelta(minutes=1)
EVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Member:
    """`most_tries` is null where it does not say; `orderly` where it was not asked."""

    since: datetime
    until: datetime
    orderly: bool | None
    most_tries: int | None


@dataclass(frozen=True)
class Tries:
    """`configured`: the group's own, by broker, for members that name none."""

    members: list[Member]
    configured: Mapping[str, int | None]

    @classmethod
    def of(cls, group: ConsumerGroup, since: datetime) -> "Tries":
        """For letters that were stored at `since` or later."""
        there = Client.objects.filter(Q(gone_by=None) | Q(gone_by__gte=since - SLACK), group=group)
        rows = group.configs.values_list("broker", "retry_max_times")
        return cls([_member(client) for client in there], dict(rows))

    def sent_by_application(self, broker: str, reconsume_times: int, stored_at: datetime) -> bool | None:
        """A letter counts one try more than it was retried. Null where its members disagree, are orderly, or unknown:
        an orderly member sends what it is done with past all retries."""
        there = [m for m in self.members if m.since - SLACK <= stored_at <= m.until]
        if not there or any(member.orderly is not False for member in there):
            return None
        said = {self.configured.get(broker) if m.most_tries is None else m.most_tries for m in there}
        most = said.pop() if len(said) == 1 else None
        return None if most is None else reconsume_times <= most


def _member(client: Client) -> Member:
    said = (client.settings or {}).get("maxReconsumeTimes", "")
    most = DEFAULT if said == UNSET else int(said) if said.isdecimal() else None
    began = min(client.seen_since, client.started_at or client.seen_since)
    return Member(began, client.gone_by + SLACK if client.gone_by else EVER, client.orderly, most)
