"""What RocketMQ's clients do unless somebody set them otherwise."""

# Threads of a push consumer at most (DefaultMQPushConsumer.consumeThreadMax: 64 in 4.9, 20 in 5.4.0). Where it holds
# more unfinished messages, some wait for a thread, and those were pulled last: nothing behind the last is finished.
MOST_THREADS = 64
