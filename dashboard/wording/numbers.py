"""Numbers, times and redelivery bounds in words."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime

from django.utils.dateformat import format as written
from django.utils.functional import Promise
from django.utils.translation import gettext as _, pgettext_lazy

from consumers.clusters.queries import ReadingRow
from consumers.groups.queue_rows import QueueRow
from consumers.groups.rows import GroupRow
from consumers.ownership.rows import MemberRow
from consumers.queries.declared import CLIENTS, MESSAGES, QUEUES, Number
from consumers.words import spans
from consumers.words.spans import (
    chosen as chosen,
    local,
    per_second as per_second,
    rate as rate,
    size as size,
    zone_name as zone_name,
)

# Numbers as people read them: thousands separated, a unit always, never more digits than are meant.
ID_LETTERS, NAME_LETTERS = 12, 24


def count(value: float) -> str:
    return spans.count(round(value))


def duration(seconds: float) -> str:
    """0.41 s, 12 s, 3 min 12 s, 41 min, 2 d 4 h, > 30 d: below ten seconds the fraction still matters."""
    if 0 < abs(seconds) < 10 and seconds != round(seconds):
        return _("%(n)s s") % {"n": f"{seconds:.2g}"}
    return spans.age(seconds)


def end_of_id(message_id: str) -> str:
    """Ids of messages of one producer differ at their end."""
    return message_id if len(message_id) <= ID_LETTERS else f"…{message_id[-ID_LETTERS:]}"


def middle_cut(name: str) -> str:
    """Client IDs begin with the address, and differ at their end."""
    return name if len(name) <= NAME_LETTERS else f"{name[: NAME_LETTERS // 2]}…{name[-NAME_LETTERS // 2 + 1 :]}"


def share(part: float) -> str:
    """A part of one, in percent; a part just below the whole is never shown as the whole."""
    number = part * 100
    if 99 < number < 100:
        return spans.percent(min(number, 99.9))
    return spans.percent(number if 0 < number < 1 else round(number))


# Moments as people read them: as the reader's clock says them. Whoever writes one says its zone beside it.
def ago(at: datetime, now: datetime) -> str:
    """How long before `now`; a clock that runs a little ahead reads as "0 s ago", never as the future."""
    return _("%(age)s ago") % {"age": duration(max(0, int((now - at).total_seconds())))}


def clock(at: datetime, now: datetime) -> str:
    """The time of day, with the date where it is not today's."""
    there = local(at)
    return f"{there:%H:%M:%S}" if there.date() == local(now).date() else day_and_time(at)


def zoned(at: datetime, now: datetime) -> str:
    """`02:14:09 UTC`"""
    return f"{clock(at, now)} {zone_name()}"


def day_and_time(at: datetime) -> str:
    there = local(at)
    return f"{_day(there)} {there:%H:%M:%S}"


def minute(at: datetime, now: datetime) -> str:
    """The time of day without seconds, with the date where it is not today's."""
    there = local(at)
    return f"{there:%H:%M}" if there.date() == local(now).date() else f"{_day(there)} {there:%H:%M}"


def _day(at: datetime) -> str:
    """`22 Nov`. The format is Django's, and each language has its own."""
    return written(at, _("j M"))


# How many messages would come again, between two bounds of which either may not be known.
def again(low: int | None, high: int | None) -> str | None:
    """`12 to 40`, `30`, `at least 12`, `at most 40`; None where neither bound is known."""
    if low is None:
        return None if high is None else _("≤ %(n)s") % {"n": count(high)}
    if high is None:
        return _("≥ %(n)s") % {"n": count(low)}
    if low == high:
        return count(low)
    return _("%(low)s to %(high)s") % {"low": count(low), "high": count(high)}


def difference(offset: int | None, base: int | None) -> str:
    """`+12`, `−10`; nothing where they agree, or one of them is not known."""
    if offset is None or base is None or offset == base:
        return ""
    return f"{'+' if offset > base else '−'}{count(abs(offset - base))}"


# How each public field is labelled and written, as its row says. Columns, JSON and labels share one spelling.


@dataclass(frozen=True)
class Field:
    label: str | Promise
    unit: str | Promise
    write: Callable[[float], str]

    def unit_of(self, value: float) -> str | Promise:
        """`1 message`, `2 messages`."""
        return next((one for one, many in UNITS if many is self.unit), self.unit) if value == 1 else self.unit


UNITS = (
    (pgettext_lazy("counted", "message"), MESSAGES),
    (pgettext_lazy("counted", "queue"), QUEUES),
    (pgettext_lazy("counted", "client"), CLIENTS),
)
WRITERS: dict[Number, Callable[[float], str]] = {
    Number.COUNT: count,
    Number.RATE: per_second,
    Number.SHARE: share,
    Number.DURATION: duration,
}
FIELDS = {
    one.name: Field(said["label"], said.get("unit", ""), WRITERS[said.get("number", Number.COUNT)])
    for row in (ReadingRow, MemberRow, QueueRow, GroupRow)
    for one in fields(row)
    if "label" in (said := one.metadata)
}
