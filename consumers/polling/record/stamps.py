"""Writes one time into many rows, by primary key."""

from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from .ids import BATCH


def stamp(rows: QuerySet[Any], keys: list[int], **values: datetime) -> None:
    for start in range(0, len(keys), BATCH):
        rows.filter(pk__in=keys[start : start + BATCH]).update(**values)
