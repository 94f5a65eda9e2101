"""The class by which a client shares queues, from what it prints of itself: `org.apache.….AllocateX@73830414`.

RocketMQ's own classes by their simple name, any other with its package: one may bear the name of RocketMQ's.
"""

from .client_settings import UNNAMED_CLASS, printed_class

OWN = "org.apache.rocketmq.client.consumer.rebalance."
LONGEST = 100


def strategy_class(printed: str | None) -> str | None:
    """None where the client says nothing; the end of a name that is too long to keep."""
    if not printed:
        return None
    name = printed_class(printed)
    return UNNAMED_CLASS if name is None else name.removeprefix(OWN)[-LONGEST:]
