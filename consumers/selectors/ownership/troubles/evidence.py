"""What findings are told by: members, what they hold, and what they compute. Retry topics are left out.

Two readings must agree: a group whose members, queues or subscriptions are just changing is only said to be settling.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.models import Assignment, ConsumerGroup
from consumers.rocketmq.allocation.queue_key import QueueKey
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.selectors.ownership.shares.group_shares import GroupShares
from consumers.selectors.ownership.shares.member_facts import MemberFacts
from consumers.selectors.ownership.shares.topic_share import TopicShare
from consumers.selectors.ownership.shares.why import Sort

# Clients share queues anew every 20 s (RocketMQ 5.4.0, RebalanceService), and two of them may be as far apart.
CALM = timedelta(seconds=40)
# A client looks for changed topics every 30 s and registers with the brokers of them as often (MQClientInstance).
ROUTE = timedelta(seconds=120)
# A member that did not answer once is not silent.
PATIENCE = timedelta(seconds=120)
OWNERLESS = (Sort.SHARED_BY_ALL, Sort.OWNERLESS)


@dataclass(frozen=True)
class Held:
    client_id: str
    seen_since: datetime
    locked: bool | None
    last_lock_at: datetime | None
    last_pull_at: datetime | None
    last_consume_at: datetime | None


@dataclass(frozen=True)
class Evidence:
    """`held` by the queue's id, by the newest answers."""

    group: ConsumerGroup
    now: datetime
    shares: GroupShares
    held: Mapping[int, tuple[Held, ...]]

    @property
    def members(self) -> Sequence[MemberFacts]:
        return self.shares.members

    @property
    def topics(self) -> Iterator[TopicShare]:
        return (share for topic, share in self.shares.topics.items() if not topic.startswith(RETRY_PREFIX))

    @property
    def is_calm(self) -> bool:
        changed = self.group.members_changed_at
        return self.group.settled_at is not None and (changed is None or self.now - changed >= CALM)

    @property
    def silent(self) -> list[MemberFacts]:
        """Who was asked last without an answer, and who was never asked."""
        return [member for member in self.members if member.error is not None or not member.spoke]

    @property
    def queues_have_owners(self) -> bool:
        """One each; not where everyone owns everything, or where nobody says what it owns."""
        return self.shares.why is None or self.shares.why.sort not in OWNERLESS

    def has_owners(self, share: TopicShare) -> bool:
        return self.queues_have_owners and not (share.why and share.why.sort in OWNERLESS)

    def is_known_by_clients(self, share: TopicShare, queue: int) -> bool:
        since = share.readable_since.get(queue)
        return since is None or self.now - since >= ROUTE

    def nobodys(self, share: TopicShare) -> list[int]:
        """Queues that nobody holds, and everybody has had the time to tell."""
        if not (self.is_calm and self.has_owners(share)) or self.silent:
            return []
        return [queue for queue in share.queues if queue not in self.held and self.is_known_by_clients(share, queue)]

    def held_twice(self, share: TopicShare) -> list[int]:
        """A silent member keeps what it held: that proves nothing."""
        if not (self.is_calm and self.has_owners(share)):
            return []
        silent = {member.client_id for member in self.silent}
        return [
            queue
            for queue in share.queues
            if len(holders := self.held.get(queue, ())) > 1 and silent.isdisjoint(one.client_id for one in holders)
        ]


def held_queues(group: ConsumerGroup) -> dict[int, tuple[Held, ...]]:
    """One query."""
    columns = ("client_id", "seen_since", "locked", "last_lock_at", "last_pull_at", "last_consume_at")
    held: dict[int, tuple[Held, ...]] = {}
    rows = Assignment.objects.filter(group=group, gone_by=None).order_by("client_id")
    for queue, *values in rows.values_list("queue_id", *columns):
        held[queue] = (*held.get(queue, ()), Held(*values))
    return held


def keys(share: TopicShare, queues: Sequence[int]) -> list[QueueKey]:
    return sorted(share.queues[queue] for queue in queues)
