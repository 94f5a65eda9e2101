"""Who is to own each queue of a group: what its members compute, said only where everything they compute from is known.

A topic's queues are shared among all members of the group, those among them that do not subscribe to it too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import ConsumerGroup
from consumers.selectors.ownership.timeline.holders import Holders, holders_at

from .group_shares import GroupShares, group_shares, strategies
from .ring import ring_checked
from .topic_share import TopicShare


@dataclass(frozen=True)
class ExpectedOwners:
    """By the queue's id: `owners`, an id once for each process that bears it, and `reasons` of those without.

    `why`: why nothing is said of any queue; `otherwise`: of one that is in neither.
    """

    owners: Holders = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    why: str | None = None
    otherwise: str = "no member subscribes to its topic"

    def of_queue(self, queue: int) -> tuple[str | None, str]:
        """The ids as one text, each once, and why it is null where it is."""
        if owners := self.owners.get(queue):
            return ", ".join(sorted(set(owners))), ""
        return None, self.why or self.reasons.get(queue, self.otherwise)


def expected_owners(group: ConsumerGroup, at: datetime | None = None) -> ExpectedOwners:
    """As of the newest answers, or of `at`, as far as rows tell of it. Seven queries at most."""
    shares = ring_checked(group_shares(group, at), lambda: holders_at(group, at))
    return expected_of(shares)


def expected_of(shares: GroupShares) -> ExpectedOwners:
    """Shares that `ring_checked` has looked at."""
    if shares.why is not None:
        return ExpectedOwners(why=shares.why.sentence)
    owners: dict[int, tuple[str, ...]] = {}
    reasons: dict[int, str] = dict(shares.unread)
    mixed = strategies(shares.members)
    for share in shares.topics.values():
        why = share.why.sentence if share.why else None
        if why is None and len(mixed) > 1:
            why = f"its members share queues by different strategies: {', '.join(mixed)}"
        if why is not None:
            reasons |= dict.fromkeys(share.queues, why)
            continue
        owners |= share.owners
        reasons |= {queue: _unowned(share, queue, shares) for queue in share.queues if queue not in share.owners}
    return ExpectedOwners(owners, reasons)


def _unowned(share: TopicShare, queue: int, shares: GroupShares) -> str:
    if fallen := share.fallen.get(queue):
        return f"it falls to {', '.join(sorted(set(fallen)))}, which does not subscribe to {share.topic}"
    shared = [member.client_id for member in shares.members if member.processes > 1]
    if shared:
        return f"it falls to nobody: processes share the client id {', '.join(shared)}"
    return "it falls to nobody"
