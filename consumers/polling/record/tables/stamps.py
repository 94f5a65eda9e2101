"""Writes the same values into many rows, by primary key."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from .ids import BATCH


def stamp(rows: QuerySet[Any], keys: list[int], **values: Any) -> None:
    for start in range(0, len(keys), BATCH):
        rows.filter(pk__in=keys[start : start + BATCH]).update(**values)


def stamp_each(rows: QuerySet[Any], fields: Sequence[str], wanted: Mapping[int, tuple[Any, ...]]) -> None:
    """The values of `fields` by primary key. Few values differ: all rows with the same values share one statement."""
    alike: dict[tuple[Any, ...], list[int]] = {}
    for key, values in wanted.items():
        alike.setdefault(values, []).append(key)
    for values, keys in alike.items():
        stamp(rows, keys, **dict(zip(fields, values, strict=True)))
