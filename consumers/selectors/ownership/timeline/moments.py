"""Columns of times, each moment made once: thousands of rows share the moments of a few readings.

Django makes an aware time of every value that SQLite holds as text, which takes longer than all the rest of a page.
"""

from datetime import UTC, datetime
from functools import lru_cache

from django.db.models import TextField
from django.db.models.functions import Cast


def as_text(name: str) -> Cast:
    """A column of times as any database writes it; connections of Django are in UTC."""
    return Cast(name, TextField())


@lru_cache(maxsize=100_000)
def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else moment(text)
