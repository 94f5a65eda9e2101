"""Groups whose queues are not shared out one by one: that a queue has no single owner says nothing there."""

from consumers.models import ConsumerGroup
from consumers.polling.members.popping import pop_answers
from consumers.vocabulary.groups import BROADCASTING, POPPING, PULLING

EVERY_MEMBER = "broadcasting: every member owns every queue"
POPS = "its members pop messages: no queue has an owner"
# RocketMQ 5.4.0, DefaultMQPullConsumerImpl.consumerRunningInfo: it lists no queues, and a lite pull consumer only those
# that it was assigned, be it by its application.
PULLS = "its members pull messages: not all such clients say which queues they hold"


def is_broadcasting(group: ConsumerGroup) -> bool:
    return group.message_model == BROADCASTING


def why_ownerless(group: ConsumerGroup) -> str | None:
    """Why a queue that no member holds is no queue without an owner; null where it is one. Two queries."""
    if group.consume_type == POPPING or ((told := pop_answers([group.pk]).get(group.pk)) and told.pops):
        return POPS
    return PULLS if group.consume_type == PULLING else None
