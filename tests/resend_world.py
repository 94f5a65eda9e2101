"""A group whose dead letters may be sent again: its broker and its retry topic take messages."""

from consumers.models import ConsumerGroup, GroupBroker
from tests.world import a_broker, a_cluster, a_group, a_queue, ago


def a_resendable_group() -> ConsumerGroup:
    """`billing` on `prod`, with the topic Order."""
    cluster = a_cluster()
    a_broker(cluster, permission=6, routed_permission=6, config_at=ago(5), routed_at=ago(5))
    group = a_group(cluster)
    values = {"configured": True, "retry_queue_nums": 1, "retry_permissions": {"%RETRY%billing": 6}}
    GroupBroker.objects.create(group=group, broker="broker-a", changed_at=ago(60), **values)
    a_queue(cluster, "Order")
    a_queue(cluster, "%RETRY%billing", kind="retry")
    return group
