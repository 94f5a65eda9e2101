"""Numbers as people read them: thousands apart, ages in two units at most."""

from django.utils.translation import gettext, ngettext

MINUTE, HOUR, DAY = 60, 3600, 86400


def count(number: int) -> str:
    return f"{number:,}"


def messages(number: int) -> str:
    return ngettext("%(count)s message", "%(count)s messages", number) % {"count": count(number)}


def rate(per_second: float) -> str:
    """Messages per second, with as many digits as matter."""
    return gettext("%(rate)s/s") % {"rate": f"{per_second:,.0f}" if abs(per_second) >= 10 else f"{per_second:.2g}"}


def age(seconds: float) -> str:
    """`41 min`, `3 min 12 s`, `2 d 4 h`: the second unit only where it still matters."""
    whole = round(seconds)
    if whole < MINUTE:
        return gettext("%(seconds)d s") % {"seconds": whole}
    if whole < 10 * MINUTE:
        return _two(whole, MINUTE, gettext("%d min"), 1, gettext("%d s"))
    if whole < HOUR:
        return gettext("%d min") % (whole // MINUTE)
    if whole < DAY:
        return _two(whole, HOUR, gettext("%d h"), MINUTE, gettext("%d min"))
    return _two(whole, DAY, gettext("%d d"), HOUR, gettext("%d h"))


def _two(seconds: int, large: int, large_text: str, small: int, small_text: str) -> str:
    first, rest = divmod(seconds, large)
    second = rest // small
    return f"{large_text % first} {small_text % second}" if second else large_text % first
