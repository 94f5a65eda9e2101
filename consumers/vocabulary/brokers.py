"""RocketMQ's own numbers of brokers."""

# BrokerId 0 is the master of a broker name; others are its slaves (RocketMQ 5.4.0, MixAll.MASTER_ID).
MASTER = 0
