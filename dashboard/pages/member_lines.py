"""The lines of the members' table: what each owns beside what falls to it, and what is odd about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from consumers.selectors.ownership.rows import MemberRow
from dashboard.figures.ownership_timeline import colour_number
from dashboard.wording.numbers import rate


@dataclass(frozen=True)
class MemberLine:
    """`colour`: the number of its colour in the picture, null where it is not in it.

    `addresses`: broker and address, the broker empty where all brokers list one host. `expected`: how many queues fall
    to it, null where that is not known. `most`: of which queue it consumes most; `never`: which were never written.
    """

    row: MemberRow
    colour: int | None
    addresses: list[tuple[str, str]]
    expected: int | None
    is_busiest: bool
    alarms: list[str]
    notes: list[str]
    most: str
    never: str


def member_lines(
    rows: Sequence[MemberRow], owners: Sequence[str], expected: Mapping[str, int] | None
) -> list[MemberLine]:
    """What is odd first, then the busiest. `expected` by client id; null where it is not known of the group."""
    colours = {owner: colour_number(place) for place, owner in enumerate(owners)}
    busiest = max((row.messages_per_second or 0 for row in rows), default=0)
    lines = [
        MemberLine(
            row=row,
            colour=colours.get(row.client_id),
            addresses=addresses(row),
            expected=None if expected is None else expected.get(row.client_id, 0),
            is_busiest=len(rows) > 1 and bool(busiest) and row.messages_per_second == busiest,
            alarms=_alarms(row),
            notes=_notes(row, len(rows), expected),
            most=_most(row),
            never=_never(row),
        )
        for row in rows
    ]
    return sorted(lines, key=lambda line: (not (line.alarms or line.notes), not line.is_busiest))


def addresses(row: MemberRow) -> list[tuple[str, str]]:
    """One where all brokers list connections from one host: each broker sees another port of it."""
    hosts = {address.rpartition(":")[0] for listed in row.connections.values() for address in listed}
    if len(hosts) < 2 and all(len(listed) < 2 for listed in row.connections.values()):
        return [("", row.address)]
    return [(broker, address) for broker, listed in sorted(row.connections.items()) for address in sorted(listed)]


def _alarms(row: MemberRow) -> list[str]:
    if row.duplicated_since is None:
        return []
    return [_("two processes share this client id: each takes the same queues, and some are taken by nobody")]


def _notes(row: MemberRow, members: int, expected: Mapping[str, int] | None) -> list[str]:
    if row.queues != 0:
        return []
    if expected is None:
        return [_("owns no queue")]
    own = expected.get(row.client_id, 0)
    if own:
        return [
            ngettext(
                "owns none of the %(n)s queue that falls to it", "owns none of the %(n)s queues that fall to it", own
            )
            % {"n": own}
        ]
    total = sum(expected.values())
    if total < members:
        return [
            _("no queue falls to it: %(members)s members share %(queues)s queues")
            % {"members": members, "queues": total}
        ]
    return [_("no queue falls to it")]


def _most(row: MemberRow) -> str:
    busiest = row.busiest_queue
    if busiest is None or row.queues == 1:
        return ""
    words = {
        "queue": f"{busiest.topic} / {busiest.broker} / {busiest.queue_id}",
        "rate": rate(busiest.messages_per_second),
    }
    return _("most of it from %(queue)s: %(rate)s") % words


def _never(row: MemberRow) -> str:
    places = ", ".join(f"{place.topic} / {place.broker} / {place.queue_id}" for place in row.never_written or ())
    return _("nothing was ever written into %s") % places if places else ""
