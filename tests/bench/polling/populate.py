"""Fills a broker before it starts: topics, groups and offsets in the files that RocketMQ 5.4.0 loads at its start.

Made one by one through an admin client, a thousand topics take ten minutes: every change rewrites the broker's files
and registers it anew.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERSION = {"counter": 1, "stateVersion": 0, "timestamp": 1}
READ_AND_WRITE = 6


@dataclass(frozen=True)
class Size:
    """Groups take `topics_per_group` topics each, in turn, on every broker."""

    topics: int
    queues: int
    groups: int
    topics_per_group: int

    def topic(self, number: int) -> str:
        return f"BenchTopic{number % self.topics:05d}"

    def group(self, number: int) -> str:
        return f"bench-group-{number:05d}"

    def topics_of(self, group: int) -> list[str]:
        return [self.topic(group * self.topics_per_group + taken) for taken in range(self.topics_per_group)]


def populate(store: Path, size: Size) -> None:
    """Writes the broker's files below `store`; every queue of every group has committed offset 0."""
    config = store / "config"
    config.mkdir(parents=True, exist_ok=True)
    groups = [size.group(number) for number in range(size.groups)]
    topics = {size.topic(number): size.queues for number in range(size.topics)}
    # mqadmin lists only groups whose retry topic the name server knows.
    topics |= {f"%RETRY%{group}": 1 for group in groups}
    _write(config / "topics.json", {"topicConfigTable": {name: _topic(name, n) for name, n in topics.items()}})
    _write(
        config / "subscriptionGroup.json",
        {"forbiddenTable": {}, "subscriptionGroupTable": {group: {"groupName": group} for group in groups}},
    )
    zeros = dict.fromkeys(range(size.queues), 0)
    offsets = {
        f"{topic}@{size.group(number)}": zeros for number in range(size.groups) for topic in size.topics_of(number)
    }
    _write(config / "consumerOffset.json", {"offsetTable": offsets})


def _topic(name: str, queues: int) -> dict[str, Any]:
    return {"topicName": name, "readQueueNums": queues, "writeQueueNums": queues, "perm": READ_AND_WRITE}


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps({"dataVersion": VERSION, **content}))
