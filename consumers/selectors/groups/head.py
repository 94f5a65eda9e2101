"""What stands at the head of each page of a group: cheaper than all of its detail by its queues and members."""

from dataclasses import dataclass
from datetime import datetime

from consumers.models import ConsumerGroup
from consumers.polling.flags import retired_topics
from consumers.selectors.queues.tag_samples import TagSampleRow, tag_samples

from .health import looked_up
from .listing import shown_groups
from .overlay import Overlay
from .row import row_fields
from .rows import GroupRow


@dataclass(frozen=True)
class RetiredTopic:
    topic: str
    retired_since: datetime


@dataclass(frozen=True, kw_only=True)
class GroupHead(GroupRow):
    """`topics`: those that no member subscribes to any more. `membership_at`: when all brokers last said who is in."""

    topics: list[RetiredTopic]
    tag_samples: list[TagSampleRow]
    membership_at: datetime | None


def group_head(group: ConsumerGroup, *, now: datetime) -> GroupHead:
    shown = looked_up(shown_groups(Overlay.at(now), [group.pk])[0])
    retired = retired_topics(shown.group, now, shown.overlay.limits.kinds)
    return GroupHead(
        **row_fields(shown),
        topics=[RetiredTopic(topic, since) for topic, since in sorted(retired.items())],
        tag_samples=tag_samples(shown.group),
        membership_at=shown.group.membership_at,
    )
