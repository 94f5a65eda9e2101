"""The columns that name a queue of a group, its topic queue and its group."""

GROUP = ["cluster", "group"]
TOPIC_QUEUE = ["cluster", "topic", "broker", "queue_id"]
QUEUE = ["cluster", "group", "topic", "broker", "queue_id"]
