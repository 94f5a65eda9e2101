"""Evidence from RocketMQ's own logs: lines of clients and brokers, followed and parsed into events."""
