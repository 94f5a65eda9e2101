"""How each public field is labelled and written, as its row says. Columns, JSON and labels share one spelling."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from django.utils.functional import Promise

from consumers.clusters.rows import ReadingRow
from consumers.groups.queue_rows import QueueRow
from consumers.groups.rows import GroupRow
from consumers.ownership.rows import MemberRow
from consumers.queries.declared import Number

from .numbers import count, duration, rate, share


@dataclass(frozen=True)
class Field:
    label: str | Promise
    unit: str | Promise
    write: Callable[[float], str]


WRITERS: dict[Number, Callable[[float], str]] = {
    Number.COUNT: count,
    Number.RATE: rate,
    Number.SHARE: share,
    Number.DURATION: duration,
}
FIELDS = {
    one.name: Field(said["label"], said.get("unit", ""), WRITERS[said.get("number", Number.COUNT)])
    for row in (ReadingRow, MemberRow, QueueRow, GroupRow)
    for one in fields(row)
    if "label" in (said := one.metadata)
}
