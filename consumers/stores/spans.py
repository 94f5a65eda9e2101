"""Lengths of time in two units at most, and never longer than 30 days: beyond that nobody acts by the number."""

MINUTE, HOUR, DAY = 60, 3600, 86400
CAP_DAYS = 30
Part = tuple[int, str]  # 3, "min"


def span_parts(seconds: float) -> tuple[bool, list[Part]]:
    """Whether the length is above the cap, and its units: the second unit only where it still matters."""
    if seconds > CAP_DAYS * DAY:
        return True, [(CAP_DAYS, "d")]
    return False, exact_parts(seconds)


def exact_parts(seconds: float) -> list[Part]:
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


def span(seconds: float) -> str:
    """`41 min`, `2 d 4 h`, `> 30 d`. Untranslated: for reasons, which are stored and compared."""
    is_capped, parts = span_parts(seconds)
    return ("> " if is_capped else "") + " ".join(f"{number} {unit}" for number, unit in parts)


def exact_span(seconds: float) -> str:
    """`92 d`: without the cap."""
    return " ".join(f"{number} {unit}" for number, unit in exact_parts(seconds))


def _two(seconds: int, large: int, large_unit: str, small: int, small_unit: str) -> list[Part]:
    first, rest = divmod(seconds, large)
    second = rest // small
    return [(first, large_unit), *([(second, small_unit)] if second else [])]
