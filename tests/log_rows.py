"""Rows of logs and their events, for tests."""

from typing import Any

from consumers.models import Cluster, ConsumerGroup, LogEvent, LogFile
from tests.world import ago

PATH = "/logs/app-1/rocketmq_client.log"


def a_log_file(cluster: Cluster, path: str = PATH, **fields: Any) -> LogFile:
    values = {"role": "client", "identity": "1:7", "offset": 4096, "size": 4100, "lines": 40, "event_lines": 8}
    values |= {"first_seen_at": ago(3600), "read_at": ago(5), "last_event_at": ago(30), "form": "client_5"}
    values |= {"zone": "+08:00", "zone_basis": "form", "zone_agrees_at": ago(5)}
    return LogFile.objects.create(cluster=cluster, path=path, **(values | fields))


def a_log_event(group: ConsumerGroup, file: LogFile, code: str = "queue_added", /, **fields: Any) -> LogEvent:
    values: dict[str, Any] = {"began_at": ago(30), "at": ago(30), "group": group.name, "topic": "Orders"}
    values |= {"broker": "broker-a", "queue_id": 1, "position": 3072, "client_id": "10.0.0.7@3312"}
    return LogEvent.objects.create(cluster=group.cluster, file=file, code=code, **(values | fields))
