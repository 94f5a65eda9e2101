"""A real broker whose group may pop from a topic of one queue."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin


@contextmanager
def popping_cluster(home: Path, jars: Path, group: str, topic: str) -> Iterator[tuple[RocketMQ, JavaAdmin]]:
    # A broker without timers refuses every pop (5.4.0, PopMessageProcessor).
    with RocketMQ(home, jars, config={"timerWheelEnable": "true"}) as cluster, JavaAdmin(cluster, jars) as admin:
        admin.create_topic(topic, 1)
        admin.create_group(group)
        admin.let_pop(group, topic)
        yield cluster, admin
