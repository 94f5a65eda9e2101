"""Stores or deletes many rows of one table by their natural keys, without a model object for each.

PostgreSQL takes the columns of a batch as arrays in one statement. SQLite takes the rows one by one with a prepared
statement.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import connections, models, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

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
