"""What clients said of themselves, in the rows of those that are listed. A client that is silent keeps what it said.

Whether what a client holds is the same as before, or held anew, is decided here: a process that started anew holds
nothing of what the one before it held, and who was not asked for long may have lost a queue and got it back.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.models import Client
from consumers.polling.brokers.rows import kind_in_group
from consumers.polling.reading import ClientReading

from .client_rows import ClientKey, ClientRows
from .continuity import Continuity


@dataclass
class Spoken:
    """`interrupted`: whose queues and subscriptions are not what they were said to be before, though they look alike.

    `changed`: groups in which somebody started anew, or named another strategy or subscription than before; `reset`:
    those in which somebody is set otherwise.
    """

    answered: set[ClientKey] = field(default_factory=set)
    interrupted: set[ClientKey] = field(default_factory=set)
    changed: set[int] = field(default_factory=set)
    reset: set[int] = field(default_factory=set)


def note_words(
    rows: ClientRows,
    groups: Mapping[str, int],
    readings: Iterable[ClientReading],
    continuity: Continuity,
    now: datetime,
) -> Spoken:
    spoken = Spoken()
    keyed = [((groups[reading.group], reading.client_id), reading) for reading in readings if reading.group in groups]
    heard = [(key, reading) for key, reading in keyed if key in rows.present]
    answered = [key for key, reading in heard if reading.error is None]
    before = _predecessors(rows, answered, now)
    rows.load([*(rows.present[key] for key in answered), *before.values()])
    for key, reading in heard:
        row = rows.present[key]
        if reading.error is not None:
            if row.running_info_error != reading.error:
                row.running_info_error = reading.error
                rows.touch(key)
            continue
        spoken.answered.add(key)
        predecessor = before.get(key, row)
        if _is_restarted(rows, key, predecessor, reading):
            spoken.interrupted.add(key)
            spoken.changed.add(key[0])
            if predecessor is row:
                rows.begin(row := _same_connection(row, now))
        elif not continuity.holds(predecessor, reading, now):
            spoken.interrupted.add(key)
        if row.running_info_at is not None and _says_otherwise(row, reading, key in rows.doubled):
            spoken.changed.add(key[0])
        if row.settings != reading.settings:
            spoken.reset.add(key[0])
        _keep(rows, key, reading, now)
    return spoken


def _predecessors(rows: ClientRows, keys: Iterable[ClientKey], now: datetime) -> dict[ClientKey, Client]:
    """Of clients that speak for the first time under a connection: the row that ended where theirs begins."""
    first = {key: rows.present[key].seen_since for key in keys if rows.present[key].running_info_at is None}
    earlier = {key for key, since in first.items() if since < now}
    found = {key: row for key, row in rows.replaced.items() if key in first}
    if not earlier:
        return found
    ended = Client.objects.filter(
        group__in={group for group, _ in earlier}, gone_by__in={first[key] for key in earlier}
    )
    for row in ended.iterator():
        key = (row.group_id, row.client_id)
        if key in earlier and row.gone_by == first[key]:
            found[key] = row
    return found


def _is_restarted(rows: ClientRows, key: ClientKey, before: Client, reading: ClientReading) -> bool:
    """Two processes under one id answer in turn: that another one did is no start."""
    if rows.present[key].duplicated_since is not None or key in rows.doubled:
        return False
    known = before.started_at is not None and reading.started_at is not None
    return known and before.started_at != reading.started_at


def _same_connection(row: Client, now: datetime) -> Client:
    """A consumer can start anew in a process that goes on, over the connection of the whole process."""
    return Client(
        group_id=row.group_id,
        client_id=row.client_id,
        address=row.address,
        language=row.language,
        version=row.version,
        connections=row.connections,
        listed_since=row.listed_since,
        seen_since=now,
        last_seen=now,
    )


def _says_otherwise(row: Client, reading: ClientReading, is_doubled: bool) -> bool:
    """What was not said before is not said otherwise. A process's own stamp only grows; two processes have two."""
    pairs: list[tuple[Any, Any]] = [
        (row.strategy, reading.strategy),
        (by_topic(reading.group, row.subscriptions), by_topic(reading.group, reading.subscriptions)),
    ]
    if any(before is not None and after is not None and before != after for before, after in pairs):
        return True
    before, after = row.sub_version, reading.sub_version
    return not is_doubled and before is not None and after is not None and after > before


def by_topic(group: str, subscriptions: Iterable[Mapping[str, Any]] | None) -> dict[str, tuple[str, str | None]] | None:
    """Expression and its type by topic, without the group's own retry topics. None: it did not say."""
    if subscriptions is None:
        return None
    return {
        one["topic"]: (one["expression"], one["expression_type"])
        for one in subscriptions
        if kind_in_group(group, one["topic"]) != "retry"
    }


def _keep(rows: ClientRows, key: ClientKey, reading: ClientReading, now: datetime) -> None:
    row = rows.present[key]
    said: dict[str, Any] = {
        "strategy": reading.strategy,
        "orderly": reading.orderly,
        "started_at": reading.started_at,
        "subscriptions": None if reading.subscriptions is None else list(reading.subscriptions),
        "settings": reading.settings,
        "pop_queues": None if reading.pop_queues is None else list(reading.pop_queues),
        "sub_version": reading.sub_version,
        "consume_status": reading.consume_status,
        "running_info_error": None,
    }
    if reading.broker_assigned is not None:
        said |= {"broker_assigned": list(reading.broker_assigned), "broker_assigned_at": now}
    if any(getattr(row, name) != value for name, value in said.items()):
        rows.touch(key)
    row.running_info_at = now
    for name, value in said.items():
        setattr(row, name, value)
