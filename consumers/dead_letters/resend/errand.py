"""Of one re-send what does not change while it runs."""

from dataclasses import dataclass
from uuid import UUID

from consumers.models import ConsumerGroup, ResendItem
from consumers.rocketmq.names import dlq_topic


@dataclass(frozen=True)
class Errand:
    resend_id: UUID
    group: ConsumerGroup
    to_group: bool

    @property
    def dlq_topic(self) -> str:
        return dlq_topic(self.group.name)

    def mark(self, item: ResendItem) -> str:
        return f"{self.resend_id.hex}/{item.pk}"
