"""Numbers as people read them: thousands separated, a unit always, never more digits than are meant."""

from django.utils.translation import gettext as _

from consumers.queries import texts

rate = texts.rate
chosen = texts.chosen


def count(value: float) -> str:
    return texts.count(round(value))


def duration(seconds: float) -> str:
    """0.41 s, 12 s, 3 min 12 s, 41 min, 2 d 4 h, > 30 d: below ten seconds the fraction still matters."""
    if 0 < abs(seconds) < 10 and seconds != round(seconds):
        return _("%(n)s s") % {"n": f"{seconds:.2g}"}
    return texts.age(seconds)


def share(part: float) -> str:
    """A part of one, in percent; a part just below the whole is never shown as the whole."""
    percent = part * 100
    if 99 < percent < 100:
        return f"{min(percent, 99.9):.1f} %"
    return f"{percent:.1f} %" if 0 < percent < 1 else f"{percent:.0f} %"


def size(octets: float) -> str:
    """Bytes in decimal units."""
    if octets < 0:
        return f"−{size(-octets)}"
    value, units = float(octets), ["B", "kB", "MB", "GB", "TB"]
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f} {units[0]}" if value < 10 and units[0] != "B" else f"{value:.0f} {units[0]}"
