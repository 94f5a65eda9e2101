"""Rows as the database gives them: what Django makes of each value takes longer than to read it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connections
from django.db.models import QuerySet

from consumers.polling.record.keyed_rows import BATCH


def plain_batches(rows: QuerySet, *names: str) -> Iterator[list[tuple[Any, ...]]]:
    """These columns, a batch at a time: as Python objects a million rows take a gigabyte. SQLite has numbers for no and
    yes; every database has texts for JSON."""
    with connections[rows.db].cursor() as cursor:
        cursor.execute(*rows.values_list(*names).query.sql_with_params())
        yield from iter(lambda: cursor.fetchmany(BATCH), [])


def plain_rows(rows: QuerySet, *names: str) -> Iterator[tuple[Any, ...]]:
    for batch in plain_batches(rows, *names):
        yield from batch


# Of many rows few values differ.
@lru_cache(maxsize=10_000)
def time_of(at: datetime | str | None) -> datetime | None:
    """SQLite's are of UTC without saying so; the least or greatest of several is a text there."""
    if at is None:
        return None
    read = datetime.fromisoformat(at) if isinstance(at, str) else at
    return read if read.tzinfo else read.replace(tzinfo=UTC)


@lru_cache(maxsize=10_000)
def json_of(text: str) -> Any:
    """Not to be changed: rows with the same text share it."""
    return json.loads(text)
