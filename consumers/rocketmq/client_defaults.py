"""What RocketMQ's clients do unless somebody set them otherwise."""

# Threads of a push consumer at most (DefaultMQPushConsumer.consumeThreadMax: 64 in 4.9, 20 in 5.4.0). Where it holds
# more unfinished messages, some wait for a thread, and those were pulled last: nothing behind the last is finished.
MOST_THREADS = 64

# Of a push consumer (RocketMQ 5.4.0, DefaultMQPushConsumer and ClientConfig).
DEFAULTS = {
    "PROP_THREADPOOL_CORE_SIZE": "20",
    "adjustThreadPoolNumsThreshold": "100000",
    "clientRebalance": "true",
    "consumeConcurrentlyMaxSpan": "2000",
    "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
    "consumeMessageBatchMaxSize": "1",
    "consumeThreadMax": "20",
    "consumeThreadMin": "20",
    "consumeTimeout": "15",
    "heartbeatBrokerInterval": "30000",
    "maxReconsumeTimes": "-1",
    "messageModel": "CLUSTERING",
    "persistConsumerOffsetInterval": "5000",
    "popBatchNums": "32",
    "popInvisibleTime": "60000",
    "popThresholdForQueue": "96",
    "pullBatchSize": "32",
    "pullInterval": "0",
    "pullThresholdForQueue": "1000",
    "pullThresholdForTopic": "-1",
    "pullThresholdSizeForQueue": "100",
    "pullThresholdSizeForTopic": "-1",
    "suspendCurrentQueueTimeMillis": "1000",
    "vipChannelEnabled": "false",
}
