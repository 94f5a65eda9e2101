"""What somebody typed or sent as the target of a reset, made what `Reset.value` keeps, or a sentence why it is not."""

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from consumers.models import ResetKind

from .numbers import NOT_AN_OFFSET, ValueRefused, is_offset, whole
from .offset_list import offset_list

__all__ = ["ValueRefused", "moment_of", "value_of"]

DAY_SECONDS = 86_400
LONGEST_SECONDS = 3_650 * DAY_SECONDS


def value_of(kind: ResetKind, said: Any, now: datetime) -> Any:
    """In JSON's own types: see `ResetKind`. Whole numbers may come as text, as forms send them. Raises ValueRefused."""
    return _PARSERS[kind](said, now)


def moment_of(value: str) -> datetime:
    """The time that `value_of` kept for TIME and MOMENT."""
    return datetime.fromisoformat(value)


def _nothing(said: Any, now: datetime) -> None:
    if said not in (None, ""):
        raise ValueRefused(_("This target needs no value: leave it out."))


def _time(said: Any, now: datetime) -> str:
    at = _parsed_time(said)
    if at > now:
        raise ValueRefused(_("The time %s lies ahead: messages that are not stored yet cannot be chosen.") % said)
    if at < datetime(1970, 1, 2, tzinfo=UTC):
        raise ValueRefused(_("The time %s is from before computers counted it: choose the earliest instead.") % said)
    return at.isoformat()


def _parsed_time(said: Any) -> datetime:
    wrong = _("%s is no time: write it as 2026-03-14T02:13:00Z, with its zone.") % (said if said else _("Nothing"))
    if not isinstance(said, str):
        raise ValueRefused(wrong)
    try:
        at = datetime.fromisoformat(said.strip())
        if at.tzinfo is None:
            raise ValueRefused(_("The time %s does not say its zone: add Z for UTC, or +02:00.") % said)
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueRefused(wrong) from error


def _offset(said: Any, now: datetime) -> int:
    number = whole(said)
    if number is None or not is_offset(number):
        raise ValueRefused(NOT_AN_OFFSET % {"said": said})
    return number


def _shift(said: Any, now: datetime) -> int:
    number = whole(said)
    if number is None or not is_offset(abs(number)):
        raise ValueRefused(_("%s is no number of messages: write a whole one, below 0 to go back.") % said)
    if number == 0:
        raise ValueRefused(_("A shift by 0 messages moves nothing: say how many, below 0 to go back."))
    return number


def _skip_older(said: Any, now: datetime) -> float:
    try:
        seconds = math.nan if isinstance(said, bool) else float(said)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= LONGEST_SECONDS:
        raise ValueRefused(
            _("%(said)s is no age: write seconds, more than 0 and at most %(most)s (ten years).")
            % {"said": said, "most": LONGEST_SECONDS}
        )
    return seconds


def _copy(said: Any, now: datetime) -> str:
    if not isinstance(said, str) or not said:
        raise ValueRefused(_("Name the group of the same cluster whose offsets are to be copied."))
    return said


def _offsets(said: Any, now: datetime) -> list[dict[str, Any]]:
    return offset_list(said)


def _restore(said: Any, now: datetime) -> str:
    try:
        return str(UUID(str(said)))
    except ValueError as error:
        raise ValueRefused(_("%s is not the id of a reset.") % said) from error


_PARSERS: Mapping[str, Callable[[Any, datetime], Any]] = {
    ResetKind.EARLIEST: _nothing,
    ResetKind.LATEST: _nothing,
    ResetKind.TIME: _time,
    ResetKind.OFFSET: _offset,
    ResetKind.SHIFT: _shift,
    ResetKind.SKIP_OLDER: _skip_older,
    ResetKind.COPY: _copy,
    ResetKind.MOMENT: _time,
    ResetKind.OFFSETS: _offsets,
    ResetKind.RESTORE: _restore,
}
