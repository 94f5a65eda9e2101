"""Which brokers take a failed message, by which of the two ways.

Sending back (36) asks the broker that stores it: its own permission, the group, `%RETRY%group`'s permission, in this
order (RocketMQ 5.4.0, AbstractSendMessageProcessor.consumerSendMsgBack). Where that fails for any reason the client
writes a copy to `%RETRY%group` as to any topic: to a broker whose route has it writable and whose master is listed
(DefaultMQPushConsumerImpl.sendMessageBack, MQClientInstance.topicRouteData2TopicPublishInfo). Brokers put their own
permission into the routes they register (BrokerController.registerBrokerAll).
"""

from django.utils.translation import gettext

from consumers.selectors.retries.checks.facts import WRITE, BrokerFacts


def takes_back(broker: BrokerFacts) -> bool | None:
    """Whether it takes back the failed messages that it stores; also where it then drops them."""
    said = broker.group
    return _all(
        broker.has_master,
        broker.permission.has(WRITE),
        None if said is None else said.configured,
        None if said is None else said.retry_permission is None or bool(said.retry_permission & WRITE),
    )


def is_way_round(broker: BrokerFacts) -> bool | None:
    """Whether clients can write a copy of a failed message to `%RETRY%group` there."""
    said = broker.group
    return _all(
        broker.has_master,
        broker.permission.has(WRITE),
        broker.routed.has(WRITE),
        None if said is None else said.configured and said.read_queues != 0,
        None if said is None else bool((said.retry_permission or 0) & WRITE),
    )


def why_not_taken_back(broker: BrokerFacts) -> str:
    said = broker.group
    words = {"broker": broker.name, "permission": broker.permission.value}
    if broker.has_master is False:
        return gettext("the master of %(broker)s is down") % words
    if broker.permission.has(WRITE) is False:
        return gettext("%(broker)s takes no messages: its brokerPermission is %(permission)s") % words
    if said is not None and not said.configured:
        return gettext("%(broker)s does not know the group") % words
    return gettext("%(broker)s does not let the retry topic be written") % words


def why_unknown(broker: BrokerFacts) -> str:
    """Why one of the two could not be told."""
    reason = broker.unread or broker.permission.unknown or broker.routed.unknown
    return reason or gettext("%(broker)s has not been read yet.") % {"broker": broker.name}


def _all(*claims: bool | None) -> bool | None:
    """False as soon as one is: what is not known of the others cannot help."""
    if False in claims:
        return False
    return None if None in claims else True
