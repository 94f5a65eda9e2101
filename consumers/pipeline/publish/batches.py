"""Rows in short transactions: a writer of a million rows must not keep the polls waiting."""

from collections.abc import Sequence
from typing import Any

from django.db import models, transaction

BATCH = 10_000


def upsert(rows: Sequence[models.Model], unique: Sequence[str], fields: Sequence[str]) -> None:
    for start in range(0, len(rows), BATCH):
        batch: Any = rows[start : start + BATCH]
        with transaction.atomic():
            type(batch[0])._default_manager.bulk_create(
                batch, update_conflicts=True, unique_fields=list(unique), update_fields=list(fields)
            )
