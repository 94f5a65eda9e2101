"""A ring (CONSISTENT_HASH) is built with a number of virtual nodes and a hash that clients do not tell.

The default ones are taken for theirs for as long as nobody holds a queue that the default ring gives to another.
"""

from collections.abc import Callable
from dataclasses import replace

from consumers.selectors.ownership.timeline.holders import Holders

from .group_shares import GroupShares, is_ring
from .topic_share import TopicShare
from .why import Sort, Why

OTHER_RING = (
    "its members share queues by a ring (CONSISTENT_HASH) without telling its virtual nodes, and hold other queues "
    "than the default ring gives them"
)


def ring_checked(shares: GroupShares, holders: Callable[[], Holders]) -> GroupShares:
    """`holders` by the queue's id: asked for only where there is a ring."""
    if shares.why is not None or not is_ring(shares.members):
        return shares
    held = holders()
    if not any(_contradicts(share, held) for share in shares.topics.values()):
        return shares
    topics = {
        topic: share if share.why else share.doubted(Why(Sort.RING, OTHER_RING))
        for topic, share in shares.topics.items()
    }
    return replace(shares, topics=topics)


def _contradicts(share: TopicShare, held: Holders) -> bool:
    return share.why is None and any(
        client_id not in share.owners.get(queue, ()) for queue in share.queues for client_id in held.get(queue, ())
    )
