"""Who is to own which queue of a topic: what RocketMQ's clients compute each for itself, computed for all of them.

The classes of org.apache.rocketmq.client.consumer.rebalance (5.4.0) decide; a file here for each of them. Pure.
"""
