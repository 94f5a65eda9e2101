"""Entries of evidence as JSON texts: each cause has facts of its own, and what is not known is left out."""

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F

NOTHING = "array<string>"


def texts(cause: str, rows: str | Column, facts: Callable[[Column], Mapping[str, Column]]) -> Column:
    """One text per entry of `rows`, an array."""

    def text(row: Column) -> Column:
        named = [value.alias(name) for name, value in facts(row).items()]
        return F.to_json(F.struct(F.lit(cause).alias("cause"), *named))

    return F.coalesce(F.transform(rows, text), F.array().cast(NOTHING))


def moment(us: Column) -> Column:
    """As ISO 8601 says it, in UTC, which is the session's time zone."""
    return F.date_format(F.timestamp_micros(us), "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX")
