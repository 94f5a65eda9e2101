"""Lengths of time, numbers and places in words: what every page, error and notification shares. A length has two units
at most, and is `> 30 d` where it is longer.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, ngettext

from .marks import listed

MINUTE, HOUR, DAY = 60, 3600, 86400
CAP_DAYS = 30
STORED_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
Part = tuple[int, str]  # 3, "min"


def _span_parts(seconds: float) -> tuple[bool, list[Part]]:
    """Whether the length is above the cap, and its units: the second unit only where it still matters."""
    if seconds > CAP_DAYS * DAY:
        return True, [(CAP_DAYS, "d")]
    return False, _exact_parts(seconds)


def _exact_parts(seconds: float) -> list[Part]:
    """Without the cap: of a length that somebody chose."""
    whole = round(seconds)
    if whole < MINUTE:
        return [(whole, "s")]
    if whole < 10 * MINUTE:
        return _two(whole, MINUTE, "min", 1, "s")
    if whole < HOUR:
        return [(whole // MINUTE, "min")]
    if whole < DAY:
        return _two(whole, HOUR, "h", MINUTE, "min")
    return _two(whole, DAY, "d", HOUR, "h")


def _two(seconds: int, large: int, large_unit: str, small: int, small_unit: str) -> list[Part]:
    first, rest = divmod(seconds, large)
    second = rest // small
    return [(first, large_unit), *([(second, small_unit)] if second else [])]


def age(seconds: float) -> str:
    """`41 min`, `3 min 12 s`, `2 d 4 h`; `> 30 d` for what is longer. All lengths of time on pages are worded here.

    What somebody chose is worded by `chosen`: `> 30 d` would not say what was chosen.
    """
    is_capped, parts = _span_parts(seconds)
    return gettext("> %s") % _worded(parts) if is_capped else _worded(parts)


def chosen(seconds: float) -> str:
    """A length of time that somebody set, in full."""
    return _worded(_exact_parts(seconds))


def _worded(parts: list[Part]) -> str:
    units = {"s": gettext("%d s"), "min": gettext("%d min"), "h": gettext("%d h"), "d": gettext("%d d")}
    return " ".join(units[unit] % number for number, unit in parts)


def count(number: int) -> str:
    return f"{number:,}"


def decimal(number: float, digits: int) -> str:
    """Thousands separated, at most so many digits after the point and no idle zero, never with an exponent."""
    return f"{number:,.{digits}f}".rstrip("0").rstrip(".")


# By the last word of a value's name.
COUNTED: dict[str, Callable[[int], str]] = {
    "messages": lambda n: ngettext("%(count)s message", "%(count)s messages", n),
    "queues": lambda n: ngettext("%(count)s queue", "%(count)s queues", n),
    "groups": lambda n: ngettext("%(count)s group", "%(count)s groups", n),
    "members": lambda n: ngettext("%(count)s member", "%(count)s members", n),
    "episodes": lambda n: ngettext("%(count)s rebalance episode", "%(count)s rebalance episodes", n),
    "repeats": lambda n: ngettext("%(count)s repeat", "%(count)s repeats", n),
    "firings": lambda n: ngettext("%(count)s firing", "%(count)s firings", n),
    "incidents": lambda n: ngettext("%(count)s incident", "%(count)s incidents", n),
    "findings": lambda n: ngettext("%(count)s more finding", "%(count)s more findings", n),
    "failures": lambda n: ngettext("%(count)s failure", "%(count)s failures", n),
    "calls": lambda n: ngettext("%(count)s call", "%(count)s calls", n),
    "files": lambda n: ngettext("%(count)s file", "%(count)s files", n),
    "rows": lambda n: ngettext("%(count)s row", "%(count)s rows", n),
    "days": lambda n: ngettext("%(count)s day", "%(count)s days", n),
    "times": lambda n: ngettext("once", "%(count)s times", n),
}


def with_counts(values: Mapping[str, Any]) -> dict[str, Any]:
    """`{"queues": 1}` with `"n_queues": "1 queue"` beside it, for sentences that say the number and its unit."""
    return {**values, **{f"n_{name}": _with_unit(name, value) for name, value in values.items() if name in COUNTED}}


def _with_unit(unit: str, value: Any) -> str | None:
    """`value`: a number, or one as it is written; a null stays one."""
    if value is None:
        return None
    written = f"{value:,}" if isinstance(value, int | float) else str(value)
    return COUNTED[unit](1 if written == "1" else 2) % {"count": written}


def messages(number: int) -> str:
    return counted("_messages", number)


def counted(name: str, number: int) -> str:
    """`3 queues` for a value named `lost_queues`; the number alone where the name ends in no unit."""
    _name, is_unit, unit = name.rpartition("_")
    if not is_unit or unit not in COUNTED:
        return count(number)
    return COUNTED[unit](number) % {"count": count(number)}


# Numbers, durations and places in words: what every page, error and notification shares.
def per_second(messages: float) -> str:
    """With as many digits as matter; the unit stands beside it."""
    return f"{messages:,.0f}" if abs(messages) >= 10 else f"{messages:.2g}"


def rate(messages: float) -> str:
    """`4 msg/s`"""
    return gettext("%(rate)s msg/s") % {"rate": per_second(messages)}


def percent(number: float) -> str:
    """`10 %`, `12.5 %`: of a hundred, with one digit where it is no whole number. Chinese has no space."""
    return gettext("%(number)s %%") % {"number": f"{number:,.1f}".removesuffix(".0")}


def size(octets: float) -> str:
    """Bytes in decimal units."""
    if octets < 0:
        return f"−{size(-octets)}"
    value, units = float(octets), ["B", "kB", "MB", "GB", "TB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f} {units[0]}" if value < 10 and units[0] != "B" else f"{value:.0f} {units[0]}"


def utc(at: datetime) -> str:
    """`2026-03-14 02:50:00 UTC`, for whoever reads it; pages write `when`."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def when(at: datetime) -> str:
    """`2026-03-14 03:50:00 UTC+01:00`: a time in a sentence, as the reader's clock says it; in UTC where none is known,
    as in REST and notifications."""
    return f"{local(at):%Y-%m-%d %H:%M:%S %Z}"


def local(at: datetime) -> datetime:
    return at.astimezone(timezone.get_current_timezone())


def minutes_ahead(at: datetime) -> int:
    """How far `local` is ahead of UTC."""
    return round((local(at).utcoffset() or timedelta()).total_seconds() / 60)


def zone_name() -> str:
    """`UTC`, `UTC+01:00`: what clock `local` is of."""
    return timezone.get_current_timezone_name()


def with_plain_times(text: str) -> str:
    """A parameter of a stored reason: where it is a time as `iso` writes it, as `when` does."""
    return when(datetime.fromisoformat(text)) if STORED_TIME.fullmatch(text) else text


# Where something is, in words: which queues of which topic on which broker.
def place(topic: str, broker: str, ids: Sequence[int]) -> str:
    """`queue 3 of Orders on broker-a`, `6 queues of Orders on broker-a (0–3, 6, 7)`."""
    words = {"n": count(len(ids)), "ids": _spans(ids), "topic": topic, "broker": broker}
    template = ngettext(
        "queue %(ids)s of %(topic)s on %(broker)s", "%(n)s queues of %(topic)s on %(broker)s (%(ids)s)", len(ids)
    )
    return template % words


def _spans(ids: Sequence[int]) -> str:
    spans: list[list[int]] = []
    for queue_id in sorted(ids):
        if spans and queue_id == spans[-1][-1] + 1:
            spans[-1].append(queue_id)
        else:
            spans.append([queue_id])
    return listed(f"{span[0]}–{span[-1]}" if len(span) > 2 else listed(map(str, span)) for span in spans)
