"""Deliveries in words: `Delivered at least 2 times: 14:03:08 to 14:03:11 by a@1 (left by 14:03:15), sent back; ...`"""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.utils.translation import gettext, ngettext

from consumers.vocabulary.messages import DeliveryBasis
from consumers.words.messages import DEAD, basis_words

from .deliveries import Delivery
from .history import Owners
from .rows import DeliveryRow

PIECES = 8


def message_sentence(low: int, rows: Sequence[DeliveryRow]) -> str:
    if not rows:
        return gettext("No delivery is known.")
    if low:
        head = ngettext("Delivered at least once", "Delivered at least %(n)s times", low) % {"n": f"{low:,}"}
    else:
        head = gettext("No delivery is certain")
    more = [gettext("and %(n)s more") % {"n": len(rows) - PIECES}] if len(rows) > PIECES else []
    return f"{head}: {'; '.join([*(row.sentence for row in rows[:PIECES]), *more])}."


def delivery_sentence(one: Delivery, owner: str | None, owners: Owners | None, now: datetime) -> str:
    words = {"times": _times(one, now), "basis": str(DEAD) if one.is_dead else basis_words(one.basis)}
    if one.basis is DeliveryBasis.COUNTED:
        count = {"n": f"{one.times:,}", **words}
        said = ngettext("%(n)s more %(times)s, %(basis)s", "%(n)s more %(times)s, %(basis)s", one.times) % count
    elif owner is None:
        said = gettext("%(times)s, member unknown, %(basis)s") % words
    else:
        said = gettext("%(times)s by %(owner)s, %(basis)s") % {**words, "owner": _named(owner, owners, now)}
    return said if one.certain else gettext("possibly %(delivery)s") % {"delivery": said}


def _named(owner: str, owners: Owners | None, now: datetime) -> str:
    left = next((one.left_before for one in (owners.known if owners else ()) if one.left_before is not None), None)
    if left is None:
        return owner
    return gettext("%(owner)s (left by %(at)s)") % {"owner": owner, "at": _clock(left, now)}


def _times(one: Delivery, now: datetime) -> str:
    if one.after is not None and one.before is not None:
        return "–".join(dict.fromkeys((_clock(one.after, now), _clock(one.before, now))))
    if one.before is not None:
        return gettext("before %(at)s") % {"at": _clock(one.before, now)}
    assert one.after is not None
    return gettext("after %(at)s") % {"at": _clock(one.after, now)}


def _clock(at: datetime, now: datetime) -> str:
    """In UTC; with the date where it is not that of the look-up."""
    utc = at.astimezone(UTC)
    return f"{utc:%H:%M:%S}" if utc.date() == now.astimezone(UTC).date() else f"{utc:%Y-%m-%d %H:%M:%S}"
