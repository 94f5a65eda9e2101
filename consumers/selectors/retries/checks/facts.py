"""What is known of one group where its retries are concerned. Plain facts; null is: not known, or there is none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.rocketmq.names import retry_topic
from consumers.vocabulary.groups import BROADCASTING

READ, WRITE = 4, 2  # bits of a permission (RocketMQ 5.4.0, PermName)


@dataclass(frozen=True, kw_only=True)
class Permission:
    """A sum of 4 (read) and 2 (write) as of `at`. `value` null, or too old to say anything: `unknown` says why."""

    value: int | None = None
    at: datetime | None = None
    unknown: str | None = None

    def has(self, bit: int) -> bool | None:
        return None if self.value is None or self.unknown is not None else bool(self.value & bit)


@dataclass(frozen=True, kw_only=True)
class GroupConfigured:
    """What one broker says of the group, since `since`.

    `retry_permission` and `dlq_permission` null: it has no such topic; `pop_permissions`: {retry topic: permission}.
    `read_queues`: of how many queues `%RETRY%group` gives messages there; null where that is not known.
    """

    configured: bool
    since: datetime
    consume_enable: bool | None = None
    retry_queue_nums: int | None = None
    retry_permission: int | None = None
    pop_permissions: Mapping[str, int] = field(default_factory=dict)
    dlq_permission: int | None = None
    read_queues: int | None = None


@dataclass(frozen=True, kw_only=True)
class BrokerFacts:
    """One broker of the group's cluster. `holds`: it has queues of the topics that the group consumes.

    `unread`: why nothing is known of what it says of the group; else `group` is it, as of `read_at`. `has_master` null
    where that is not known for the same reason. `permission` is its own, `routed` what name servers tell clients.
    """

    name: str
    address: str
    holds: bool
    has_master: bool | None = None
    permission: Permission = Permission()
    routed: Permission = Permission()
    group: GroupConfigured | None = None
    unread: str | None = None
    read_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ClientFacts:
    """A present member. `settings` null: it has not said what it is set to."""

    client_id: str
    settings: Mapping[str, str] | None = None
    orderly: bool | None = None
    told_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class HeldQueue:
    """A queue that a member holds. `held_min`: the oldest message that it holds, its oldest since `head_since`."""

    place: str
    client_id: str
    held_min: int | None = None
    min_offset: int | None = None
    head_since: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """`online` null has `membership_unknown`; so has `pops` null, where members are there that have not said.

    `orderly` null: members disagree, or none has said.
    """

    cluster: str
    group: str
    namesrv: str
    now: datetime
    brokers: Sequence[BrokerFacts]
    online: bool | None = None
    membership_unknown: str | None = None
    message_model: str | None = None
    consume_type: str | None = None
    pops: bool | None = None
    clients: Sequence[ClientFacts] = ()
    held: Sequence[HeldQueue] = ()

    @property
    def holders(self) -> list[BrokerFacts]:
        return [broker for broker in self.brokers if broker.holds]

    @property
    def retry_topic(self) -> str:
        return retry_topic(self.group)

    @property
    def orderly(self) -> bool | None:
        said = {client.orderly for client in self.clients}
        return said.pop() if len(said) == 1 else None

    @property
    def is_broadcasting(self) -> bool:
        return self.message_model == BROADCASTING

    @property
    def is_pulling(self) -> bool:
        return self.consume_type == "CONSUME_ACTIVELY"

    @property
    def is_popping(self) -> bool:
        return self.consume_type == "CONSUME_POP" or self.pops is True
