"""How each public field is labelled and written, as its row says. Columns, JSON and labels share one spelling."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from django.utils.functional import Promise

from consumers.selectors.clusters.cluster_rows import ReadingRow
from consumers.selectors.groups.rows import GroupRow
from consumers.selectors.ownership.rows import MemberRow
from consumers.selectors.public import Number
from consumers.selectors.queues.queue_rows import QueueRow

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
