"""Stores or deletes many rows of one table by their natural keys, without a model object for each.

PostgreSQL takes the columns of a batch as arrays in one statement. SQLite takes the rows one by one with a prepared
statement.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
from django.db import connections, models, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import QuerySet

from consumers.lake.encoded import encoded
from consumers.models import Cluster, ConsumerGroup, GroupKind, Queue, Topic
from consumers.polling.brokers.joined import QUEUE_BITS, QUEUE_MASK, queue_ids
from consumers.rocketmq.names import is_system_group, topic_kind

BATCH = 10_000


def upsert(
    model: type[models.Model],
    unique: Sequence[str],
    columns: dict[str, Sequence[Any]],
    update: bool = True,
    keep: Collection[str] = (),
) -> None:
    """Stores rows given as columns by field name, in short transactions.

    Fields that are not named keep their values; in new rows they get their defaults. `unique` names the fields of a
    unique constraint; no two given rows may have the same values in these fields. Existing rows get the new values
    except in the fields that `keep` names. They stay unchanged without `update`, or if only the `unique` fields are
    given. Values of a JSON field are JSON texts.
    """
    connection = _connection(model)
    rest = [_column(connection, model, name) for name in columns if name not in {*unique, *keep}]
    changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in rest)
    change = f"UPDATE SET {changes}" if rest and update else "NOTHING"
    columns = columns | _defaults(model, columns)
    into = ", ".join(_column(connection, model, name) for name in columns)
    key = ", ".join(_column(connection, model, name) for name in unique)
    table = connection.ops.quote_name(model._meta.db_table)
    source = _arrays(connection, model, columns) if _takes_arrays(connection) else f"VALUES ({_places(columns)})"
    _run(connection, model, f"INSERT INTO {table} ({into}) {source} ON CONFLICT ({key}) DO {change}", columns)


def upsert_rows(
    model: type[models.Model],
    unique: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    keep: Collection[str] = (),
) -> None:
    """Stores rows given as mappings by field name. All rows have the same fields."""
    if rows:
        upsert(model, unique, {name: [row[name] for row in rows] for name in rows[0]}, keep=keep)


def rewrite(model: type[models.Model], keys: Sequence[int], columns: dict[str, Sequence[Any]]) -> None:
    """Changes these columns of existing rows, by primary key, in short transactions. A row deleted meanwhile stays
    deleted. JSON fields are not supported.
    """
    connection = _connection(model)
    key = connection.ops.quote_name(str(model._meta.pk.column))
    table = connection.ops.quote_name(model._meta.db_table)
    names = [_column(connection, model, name) for name in columns]
    by_key: dict[str, Sequence[Any]] = {**columns, model._meta.pk.name: keys}
    if _takes_arrays(connection):
        changes = ", ".join(f"{name} = fresh.{name}" for name in names)
        rows = f"({_arrays(connection, model, by_key)}) AS fresh ({', '.join([*names, key])})"
        statement = f"UPDATE {table} SET {changes} FROM {rows} WHERE {table}.{key} = fresh.{key}"
    else:
        statement = f"UPDATE {table} SET {', '.join(f'{name} = %s' for name in names)} WHERE {key} = %s"
    _run(connection, model, statement, by_key)


def delete(model: type[models.Model], columns: dict[str, Sequence[Any]]) -> None:
    """Deletes the rows that hold these values, in short transactions. No foreign key may point at them."""
    connection = _connection(model)
    names = [_column(connection, model, name) for name in columns]
    table = connection.ops.quote_name(model._meta.db_table)
    if _takes_arrays(connection):
        where = f"({', '.join(names)}) IN ({_arrays(connection, model, columns)})"
    else:
        where = " AND ".join(f"{name} = %s" for name in names)
    _run(connection, model, f"DELETE FROM {table} WHERE {where}", columns)


def _run(
    connection: BaseDatabaseWrapper, model: type[models.Model], statement: str, columns: dict[str, Sequence[Any]]
) -> None:
    size = len(next(iter(columns.values())))
    fields = [_field(model, name) for name in columns]
    for start in range(0, size, BATCH):
        parts = (values[start : start + BATCH] for values in columns.values())
        batch = [_adapted(connection, field, part) for field, part in zip(fields, parts, strict=True)]
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            if _takes_arrays(connection):
                cursor.execute(statement, batch)
            else:
                cursor.executemany(statement, list(zip(*batch, strict=True)))


def _defaults(model: type[models.Model], columns: dict[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Django's defaults, which the database does not have."""
    size = len(next(iter(columns.values())))
    absent = (field for field in model._meta.concrete_fields if field.name not in columns and field.has_default())
    return {field.name: [field.get_default()] * size for field in absent}


def _connection(model: type[models.Model]) -> BaseDatabaseWrapper:
    return connections[router.db_for_write(model)]


def _takes_arrays(connection: BaseDatabaseWrapper) -> bool:
    return connection.vendor == "postgresql"


def _column(connection: BaseDatabaseWrapper, model: type[models.Model], name: str) -> str:
    return connection.ops.quote_name(str(_field(model, name).column))


def _field(model: type[models.Model], name: str) -> "models.Field[Any, Any]":
    field = model._meta.get_field(name)
    if not isinstance(field, models.Field):
        raise TypeError(f"{name} is no column of {model.__name__}.")
    return field


def _places(columns: Collection[str]) -> str:
    return ", ".join(["%s"] * len(columns))


def _arrays(connection: BaseDatabaseWrapper, model: type[models.Model], names: Iterable[str]) -> str:
    types = [_field(model, name).db_type(connection) for name in names]
    return f"SELECT * FROM unnest({', '.join(f'%s::{kind}[]' for kind in types)})"


def _adapted(connection: BaseDatabaseWrapper, field: "models.Field[Any, Any]", values: Sequence[Any]) -> list[Any]:
    """Values as the database takes them: SQLite has no type for times."""
    if isinstance(field, models.JSONField):
        return [json.dumps(value) if isinstance(value, dict | list) else value for value in values]
    if not isinstance(field, models.DateTimeField):
        return list(values)
    adapted = {value: connection.ops.adapt_datetimefield_value(value) for value in set(values) - {None}}
    return [adapted.get(value) for value in values]


# Primary keys of stored names, so that a reading looks up nothing row by row. Creates missing rows.

WRITE_BATCH = 5000

QueueKey = tuple[str, str, int]  # topic, broker, queue id


@dataclass
class EntityIds:
    groups: dict[str, int] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    queues: dict[QueueKey, int] = field(default_factory=dict)
    # The number of queues of each topic, by broker, as each broker last reported it to this process.
    configured: dict[str, dict[str, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> "EntityIds":
        return cls(
            groups=dict(cluster.groups.values_list("name", "pk")),
            topics=dict(cluster.topics.values_list("name", "pk")),
            queues=_stored_queues(cluster),
        )

    def make_groups(self, cluster: Cluster, names: Iterable[str], now: datetime) -> None:
        missing = sorted(set(names) - self.groups.keys())
        if not missing:
            return
        # Another process may have created some of the rows meanwhile.
        ConsumerGroup.objects.bulk_create(
            [
                ConsumerGroup(
                    cluster=cluster,
                    name=name,
                    kind=GroupKind.SYSTEM if is_system_group(name) else GroupKind.USER,
                    first_seen_at=now,
                )
                for name in missing
            ],
            batch_size=WRITE_BATCH,
            ignore_conflicts=True,
        )
        self.groups = dict(cluster.groups.values_list("name", "pk"))

    def make_queues(self, cluster: Cluster, keys: Iterable[QueueKey], now: datetime) -> None:
        missing = sorted(set(keys) - self.queues.keys())
        if not missing:
            return
        appeared = [now if self._was_absent(key) else None for key in missing]
        self._make_topics(cluster, {topic for topic, _, _ in missing}, now)
        columns: dict[str, Sequence[Any]] = {
            "topic": [self.topics[topic] for topic, _, _ in missing],
            "broker": [broker for _, broker, _ in missing],
            "queue_id": [queue_id for _, _, queue_id in missing],
            "first_seen_at": appeared,
        }
        upsert(Queue, ["topic", "broker", "queue_id"], columns, update=False)
        self.queues = _stored_queues(cluster)

    def _was_absent(self, key: QueueKey) -> bool:
        """Whether the broker reported before that it has no such queue of a known topic. If the cluster, topic or
        broker is read for the first time, the age of the queue is unknown.
        """
        topic, broker, queue_id = key
        return topic in self.topics and broker in self.configured and queue_id >= self.configured[broker].get(topic, 0)

    def _make_topics(self, cluster: Cluster, names: Iterable[str], now: datetime) -> None:
        missing = sorted(set(names) - self.topics.keys())
        if not missing:
            return
        columns: dict[str, Sequence[Any]] = {
            "cluster": [cluster.pk] * len(missing),
            "name": missing,
            "kind": [topic_kind(name) for name in missing],
            "first_seen_at": [now] * len(missing),
        }
        # An existing row keeps the time at which it was first seen.
        upsert(Topic, ["cluster", "name"], columns, update=False)
        self.topics = dict(cluster.topics.values_list("name", "pk"))


def _stored_queues(cluster: Cluster) -> dict[QueueKey, int]:
    rows = Queue.objects.filter(topic__cluster=cluster)
    # One string object for each name: otherwise each row would hold its own.
    names: dict[str, str] = {}
    return {
        (names.setdefault(topic, topic), names.setdefault(broker, broker), queue_id): pk
        for topic, broker, queue_id, pk in rows.values_list("topic__name", "broker", "queue_id", "pk").iterator()
    }


# Writes the same values into many rows, by primary key.


def stamp(rows: QuerySet[Any], keys: list[int], **values: Any) -> None:
    for start in range(0, len(keys), WRITE_BATCH):
        rows.filter(pk__in=keys[start : start + WRITE_BATCH]).update(**values)


def stamp_each(rows: QuerySet[Any], fields: Sequence[str], wanted: Mapping[int, tuple[Any, ...]]) -> None:
    """The values of `fields` by primary key. Few values differ: all rows with the same values share one statement."""
    same_values: dict[tuple[Any, ...], list[int]] = {}
    for key, values in wanted.items():
        same_values.setdefault(values, []).append(key)
    for values, keys in same_values.items():
        stamp(rows, keys, **dict(zip(fields, values, strict=True)))


HeldKey = tuple[str, str, str, int]  # group, topic, broker, queue id


@dataclass(frozen=True)
class RowQueues:
    """`keys`: the queues, each once; `places`: the place of each row's queue in `keys`."""

    keys: list[QueueKey]
    places: np.ndarray

    @classmethod
    def of(cls, rows: pa.Table) -> "RowQueues":
        topics, brokers = encoded(rows["topic"]), encoded(rows["broker"])
        topic = topics.indices.to_numpy().astype(np.int64)
        pair = topic * max(len(brokers.dictionary), 1) + brokers.indices.to_numpy()
        # Hashing is several times as fast as the sort of np.unique.
        queues = pa.array(pair << QUEUE_BITS | queue_ids(rows)).dictionary_encode()
        distinct = queues.dictionary.to_numpy()
        topic, broker = np.divmod(distinct >> QUEUE_BITS, max(len(brokers.dictionary), 1))
        names = [
            topics.dictionary.take(pa.array(topic)).to_pylist(),
            brokers.dictionary.take(pa.array(broker)).to_pylist(),
            (distinct & QUEUE_MASK).tolist(),
        ]
        return cls(list(zip(*names, strict=True)), queues.indices.to_numpy())

    def keyed(self, known: Mapping[QueueKey, int]) -> np.ndarray:
        """The primary key of each row's queue."""
        return np.array([known[key] for key in self.keys], np.int64)[self.places]


def numbers_at(rows: pa.Table, numbers: Mapping[HeldKey, int]) -> pa.Array:
    """The number of each row's group and queue, null if `numbers` has none."""
    columns = [encoded(rows[name]) for name in ("group", "topic", "broker")]
    known = [{name: code for code, name in enumerate(column.dictionary.to_pylist())} for column in columns]
    sizes = [max(len(names), 1) for names in known]

    def composite(group: np.ndarray, topic: np.ndarray, broker: np.ndarray, queue_id: np.ndarray) -> np.ndarray:
        return ((group * sizes[1] + topic) * sizes[2] + broker) << QUEUE_BITS | queue_id

    wanted = [
        (*(names[part] for names, part in zip(known, key, strict=False)), key[3], number)
        for key, number in numbers.items()
        if all(part in names for names, part in zip(known, key, strict=False))
    ]
    if not wanted:
        return pa.nulls(rows.num_rows, pa.int64())
    group, topic, broker, queue_id, values = np.array(wanted, np.int64).T
    keys = composite(group, topic, broker, queue_id)
    order = np.argsort(keys)
    keys, values = keys[order], values[order]
    group, topic, broker = (column.indices.to_numpy().astype(np.int64) for column in columns)
    mine = composite(group, topic, broker, queue_ids(rows))
    at = np.minimum(np.searchsorted(keys, mine), len(keys) - 1)
    return pa.array(values[at], mask=keys[at] != mine)
