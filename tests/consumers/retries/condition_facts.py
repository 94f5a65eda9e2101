"""Facts of a healthy group for tests of retry conditions: each says what differs."""

from dataclasses import replace

from consumers.retries.checks.observed import (
    BrokerConditions,
    ClientConditions,
    GroupConfigured,
    Permission,
    RetryConditions,
)
from tests.world import NOW, ago

SETTINGS = {"consumeMessageBatchMaxSize": "1", "consumeTimeout": "15", "maxReconsumeTimes": "-1"}


def said(**more):
    values = {"configured": True, "since": ago(3600), "consume_enable": True, "retry_queue_nums": 1}
    values |= {"retry_permission": 6, "dlq_permission": 6, "read_queues": 1}
    return GroupConfigured(**(values | more))


def a_broker(name="broker-a", *, permission=6, routed=6, group=None, **more):
    """Permissions are numbers, or the reason why they are not known."""
    values = {"address": f"{name}:10911", "holds": True, "has_master": True, "read_at": ago(5)}
    values |= {"permission": _permission(permission), "routed": _permission(routed), "group": group or said()}
    return BrokerConditions(name=name, **(values | more))


def unread(name="broker-a", **more):
    broker = a_broker(name, permission=f"{name} has not been read", routed="no name server", **more)
    return replace(broker, group=None, has_master=None, unread=f"{name} could not be read", read_at=None)


def a_client(client_id="c1", *, orderly=False, **settings):
    return ClientConditions(client_id=client_id, settings=SETTINGS | settings, orderly=orderly, answered_at=ago(10))


def silent_client(client_id="c1"):
    return ClientConditions(client_id=client_id)


def facts(*brokers, **more):
    values = {"cluster": "prod", "group": "billing", "namesrv": "127.0.0.1:9876", "now": NOW, "online": True}
    values |= {"message_model": "CLUSTERING", "consume_type": "CONSUME_PASSIVELY", "pops": False}
    values |= {"brokers": brokers or (a_broker(),), "clients": (a_client(),)}
    return RetryConditions(**(values | more))


def _permission(value):
    if isinstance(value, str):
        return Permission(unknown=value)
    return Permission(value=value, at=ago(20))
