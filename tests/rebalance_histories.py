"""What happened to a group, reading by reading, as rows of the lake and of the poll.

`see(15, a="01", b="23")`: at 15 s brokers list a and b, and they say that they hold these queues of Orders.
None: it did not answer; NOT_ASKED: nobody asked it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from consumers.lake.schemas import TABLES
from consumers.pipeline.durations import Durations
from consumers.pipeline.rebalances.find import find_events
from consumers.pipeline.rebalances.tables import GROUPS
from tests.pipeline_rows import at, us

NOT_ASKED = "not asked"
TOPIC, BROKER = "Orders", "broker-a"


@dataclass(frozen=True)
class Seen:
    seconds: float
    holds: dict[str, str | None]
    complete: bool = True
    error: str = "no answer within 5 s"
    clients: dict[str, dict[str, Any]] = field(default_factory=dict)
    group: dict[str, Any] = field(default_factory=dict)


def see(seconds: float, **holds: str | None) -> Seen:
    return Seen(seconds, holds)


def every(start: float, until: float, step: float = 15, **holds: str | None) -> list[Seen]:
    """The same again, from `start` to `until`, both included."""
    return [see(start + step * n, **holds) for n in range(int((until - start) / step) + 1)]


def membership(group: str, history: Sequence[Seen]) -> list[dict[str, Any]]:
    return [
        {
            "cluster": "prod",
            "group": group,
            "taken_at": at(seen.seconds),
            "complete": seen.complete,
            "members": len(seen.holds) if seen.complete else None,
            "consume_type": "CONSUME_PASSIVELY",
            "message_model": "CLUSTERING",
            **seen.group,
        }
        for seen in history
    ]


def ownership(group: str, history: Sequence[Seen]) -> list[dict[str, Any]]:
    return [
        {"cluster": "prod", "group": group, "taken_at": at(seen.seconds), "client_id": client_id, **row}
        for seen in history
        for client_id, held in seen.holds.items()
        if held != NOT_ASKED
        for row in _answer(seen, held, seen.clients.get(client_id, {}))
    ]


def _answer(seen: Seen, held: str | None, more: dict[str, Any]) -> list[dict[str, Any]]:
    if held is None:
        return [{"error": seen.error}]
    said = {"strategy": "AllocateMessageQueueAveragely", "subscription": f"{TOPIC} TAG *", "started_at": at(-3600)}
    said |= {name: value for name, value in more.items() if name not in ("address", "also")}
    queues = [{"topic": TOPIC, "broker": BROKER, "queue_id": int(one), "dropped": False} for one in held]
    queues += [{**queues[0], **fields} for fields in more.get("also", ())]
    return [{**queue, **said} for queue in queues] or [said]


def clients(history: Sequence[Seen]) -> list[dict[str, Any]]:
    """The intervals that the poll would have written: another address or start is another one."""
    found: list[dict[str, Any]] = []
    present: dict[str, dict[str, Any]] = {}
    for seen in history:
        now = us(seen.seconds)
        for client_id in seen.holds:
            told = seen.holds[client_id] not in (None, NOT_ASKED)
            more = seen.clients.get(client_id, {})
            known = present.get(client_id)
            started = us(-3600) if "started_at" not in more else _us(more["started_at"])
            address = more.get("address", "10.0.0.1:5000")
            if known is None or known["address"] != address or (told and known["started_us"] not in (None, started)):
                if known is not None:
                    known["gone_us"] = now
                present[client_id] = {"client_id": client_id, "address": address, "started_us": None, "seen_us": now}
                found.append(present[client_id])
            row = present[client_id]
            row["last_seen_us"] = now
            if told:
                row |= {"started_us": started, "answered_us": now}
            if "doubled_us" in more:
                row["doubled_us"] = more["doubled_us"]
        if seen.complete:
            for client_id in present.keys() - seen.holds.keys():
                present.pop(client_id)["gone_us"] = now
    return found


def _us(moment: Any) -> int:
    return us((moment - at(0)).total_seconds())


def queues(count: int = 4, **fields: Any) -> list[dict[str, Any]]:
    one = {"topic": TOPIC, "broker": BROKER, "first_seen_us": None, "readable": True, "readable_us": None}
    return [{**one, "queue_id": number, **fields} for number in range(count)]


def group_row(
    group: str, history: Sequence[Seen], *, since: float = 0, lookback: float = 1800, **fields: Any
) -> dict[str, Any]:
    """A row of the groups that may have a rebalance, as changed_groups makes it."""
    values = {"cluster": "prod", "group": group, "since_us": us(since), "reach_us": us(since - lookback)}
    found = clients(history)
    values |= {"shares_queues": True, "clients": found, "queues": queues(), "brokers": []}
    values |= {"joined_us": sorted(one["seen_us"] for one in found)}
    return values | fields


def saying(history: Sequence[Seen], **clients: dict[str, Any]) -> list[Seen]:
    """With more of what these clients are and say."""
    return [replace(seen, clients={**seen.clients, **clients}) for seen in history]


def of_group(history: Sequence[Seen], **values: Any) -> list[Seen]:
    """With more of what the brokers say of the group."""
    return [replace(seen, group={**seen.group, **values}) for seen in history]


def partly(history: Sequence[Seen]) -> list[Seen]:
    """Where a broker of the group did not answer."""
    return [replace(seen, complete=False) for seen in history]


def rebalances(
    histories: dict[str, tuple[Sequence[Seen], dict[str, Any]]], durations: Durations
) -> list[dict[str, Any]]:
    """Rows of the rebalances of many groups at once: by name their history and what else their row says."""
    lake = {
        name: pa.Table.from_pylist([row for group, (seen, _) in histories.items() for row in rows(group, seen)], schema)
        for name, rows, schema in (
            ("membership", membership, TABLES["membership"]),
            ("ownership", ownership, TABLES["ownership"]),
        )
    }
    groups = [group_row(group, seen, **fields) for group, (seen, fields) in histories.items()]
    events, _ = find_events(pa.Table.from_pylist(groups, GROUPS), **lake, durations=durations)
    return events.to_pylist()


def seconds(moment_us: int | None) -> float | None:
    return None if moment_us is None else (moment_us - us(0)) / 1_000_000
