"""What of a client's own settings is kept: a list of names, since the rest of its properties may hold secrets (proxies,
hooks, whatever its classes print of themselves)."""

import re
from collections.abc import Mapping

# Fields of DefaultMQPushConsumer, DefaultLitePullConsumer and ClientConfig (RocketMQ 5.4.0, MixAll.object2Properties).
KEPT = (
    "PROP_CLIENT_VERSION",
    "PROP_CONSUME_TYPE",
    "adjustThreadPoolNumsThreshold",
    "clientRebalance",
    "consumeConcurrentlyMaxSpan",
    "consumeFromWhere",
    "consumeMessageBatchMaxSize",
    "consumeThreadMax",
    "consumeThreadMin",
    "consumeTimeout",
    "consumeTimestamp",
    "heartbeatBrokerInterval",
    "maxReconsumeTimes",
    "messageModel",
    "persistConsumerOffsetInterval",
    "popBatchNums",
    "popInvisibleTime",
    "popThresholdForQueue",
    "pullBatchSize",
    "pullInterval",
    "pullThresholdForQueue",
    "pullThresholdForTopic",
    "pullThresholdSizeForQueue",
    "suspendCurrentQueueTimeMillis",
    "vipChannelEnabled",
)
LONGEST = 200

OFFSET_STORE = "offsetStore"
OWN_STORES = frozenset(
    "org.apache.rocketmq.client.consumer.store." + name for name in ("RemoteBrokerOffsetStore", "LocalFileOffsetStore")
)
UNNAMED_CLASS = "a class that does not print its name"
_PRINTED_OBJECT = re.compile(r"([\w.$/]{1,255})@[0-9a-f]+")


def kept_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """By name; the class of the offset store in the place of what it prints."""
    kept = {name: properties[name][:LONGEST] for name in KEPT if name in properties}
    store = offset_store(properties)
    return kept if store is None else kept | {OFFSET_STORE: store}


def offset_store(properties: Mapping[str, str]) -> str | None:
    """The class of the store that keeps the client's progress; None where it has none yet, or did not say so."""
    printed = properties.get(OFFSET_STORE)
    if printed is None:
        return None
    return printed_class(printed) or UNNAMED_CLASS


def printed_class(printed: str) -> str | None:
    """Java prints an object as class@hash, unless its class prints something else, which may be anything: None."""
    match = _PRINTED_OBJECT.fullmatch(printed)
    return match[1] if match else None


def outside_store(settings: Mapping[str, str] | None) -> str | None:
    """The class of a store that is not RocketMQ's own: neither brokers nor RocketMQ's files know its progress."""
    store = (settings or {}).get(OFFSET_STORE)
    return None if store in OWN_STORES else store
