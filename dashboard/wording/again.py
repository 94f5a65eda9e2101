"""How many messages would come again, between two bounds of which either may not be known."""

from django.utils.translation import gettext as _

from .numbers import count


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
