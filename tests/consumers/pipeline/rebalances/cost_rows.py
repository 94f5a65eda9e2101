"""Rebalances written by hand: who held which queue at each whole reading, what the clients and the brokers said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from consumers.lake.schemas import TABLES
from consumers.pipeline.rebalances.last_owners import LAST_OWNERS
from tests.pipeline_rows import at, us

TEXT, BIG = pa.string(), pa.int64()
GROUP = [("cluster", TEXT), ("group", TEXT)]
PLACE = [("topic", TEXT), ("broker", TEXT), ("queue_id", pa.int32())]
EVENTS = pa.schema(
    [*GROUP, ("started_after_us", BIG), ("started_before_us", BIG), ("end_us", BIG), ("is_broadcasting", pa.bool_())]
)
WHOLES = pa.schema([*GROUP, ("at_us", BIG)])
VIEWS = pa.schema([*WHOLES, *PLACE, ("owners", pa.list_(TEXT))])
QUEUES = pa.schema([*GROUP, *PLACE, ("since_us", BIG), ("until_us", BIG)])
SUBSCRIBED = pa.schema([*GROUP, ("topic", TEXT)])


@dataclass
class Story:
    """One group's rebalance of Orders on broker-a, first seen at 15 s; whole readings are those that `owners` names."""

    group: str
    owners: Mapping[int, Mapping[int, Sequence[str]]] = field(default_factory=dict)  # second: {queue id: client ids}
    said: Sequence[dict[str, Any]] = ()  # rows of ownership
    offsets: Mapping[int, Sequence[tuple[int, int | None, int]]] = field(default_factory=dict)  # queue id: …
    wanted: Mapping[int, int | None] = field(default_factory=lambda: {0: None})  # queue id: since which second
    earlier: dict[str, Any] | None = None  # of queue 0, an answer long before
    started_after: int | None = 0
    end: int = 60
    broadcasting: bool = False

    @property
    def key(self) -> dict[str, str]:
        return {"cluster": "prod", "group": self.group}

    def place(self, queue_id: int) -> dict[str, Any]:
        return {**self.key, "topic": "Orders", "broker": "broker-a", "queue_id": queue_id}

    def event(self) -> dict[str, Any]:
        after = None if self.started_after is None else us(self.started_after)
        bounds = {"started_after_us": after, "started_before_us": us(15), "end_us": us(self.end)}
        return {**self.key, **bounds, "is_broadcasting": self.broadcasting}

    def wholes(self) -> list[dict[str, Any]]:
        return [{**self.key, "at_us": us(second)} for second in self.owners]

    def views(self) -> list[dict[str, Any]]:
        return [
            {**self.place(queue_id), "at_us": us(second), "owners": list(owners)}
            for second, held in self.owners.items()
            for queue_id, owners in held.items()
            if owners
        ]

    def queues(self) -> list[dict[str, Any]]:
        return [
            {**self.place(queue_id), "since_us": None if since is None else us(since), "until_us": None}
            for queue_id, since in self.wanted.items()
        ]

    def ownership(self) -> list[dict[str, Any]]:
        return [{**self.place(one.get("queue_id", 0)), **one} for one in self.said]

    def last_owners(self) -> list[dict[str, Any]]:
        if self.earlier is None:
            return []
        told = {"event_us": us(15), "at_us": us(-3600), **self.earlier}
        return [{**self.place(0), **{name: told[name] for name in LAST_OWNERS.names if name in told}}]

    def readings(self) -> list[dict[str, Any]]:
        return [
            {
                **self.place(queue_id),
                "kind": "normal",
                "taken_at": at(second),
                "consumer_offset": consumer,
                "broker_offset": broker,
                "unknown_reason": "never committed" if consumer is None else None,
            }
            for queue_id, told in self.offsets.items()
            for second, consumer, broker in told
        ]


def says(
    second: int, client_id: str, commit: int | None, cached: tuple[int, int] | None = None, **fields: Any
) -> dict[str, Any]:
    """What a client says of a queue that it holds: its offset in memory, the first and last message it holds."""
    first, last = cached or (None, None)
    offsets = {"commit_offset": commit, "cached_min": first, "cached_max": last}
    return {"taken_at": at(second), "client_id": client_id, "started_at": at(-600), **offsets, **fields}


def frames(spark: Any, stories: Sequence[Story]) -> dict[str, Any]:
    """The arguments of topic_costs."""
    rows: dict[str, tuple[pa.Schema, list[dict[str, Any]]]] = {
        "events": (EVENTS, [story.event() for story in stories]),
        "wholes": (WHOLES, [row for story in stories for row in story.wholes()]),
        "views": (VIEWS, [row for story in stories for row in story.views()]),
        "queues": (QUEUES, [row for story in stories for row in story.queues()]),
        "subscribed": (SUBSCRIBED, [{**story.key, "topic": "Orders"} for story in stories]),
        "ownership": (TABLES["ownership"], [row for story in stories for row in story.ownership()]),
        "last_owners": (LAST_OWNERS, [row for story in stories for row in story.last_owners()]),
        "readings": (TABLES["readings"], [row for story in stories for row in story.readings()]),
    }
    return {name: spark.createDataFrame(pa.Table.from_pylist(found, schema)) for name, (schema, found) in rows.items()}
