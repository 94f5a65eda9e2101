"""Queues whose offsets cannot be right, or whose messages nobody will consume: said as what they are, never as a lag.

Pure: shown rows in, anomalies out. A queue that is not read has none: nothing of it is known.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from consumers.selectors.measures import count
from consumers.selectors.places import place
from consumers.selectors.queue_rows import QueueRow
from consumers.vocabulary.unknown import UnknownReason

from .rows import Anomaly
from .sorts import SORTS, Sort

NOT_SEEN_TO_BEGIN = "no judgement saw it begin"
QueueKey = tuple[str, str, int]


@dataclass(frozen=True)
class Start:
    """Where a member would start on a queue without an offset, and by which rule; `offset` null: `error` says why."""

    offset: int | None
    rule: str | None
    error: str | None


NOT_ASKED = Start(None, None, "the broker was not asked yet")


def queue_anomalies(rows: Iterable[QueueRow], starts: Mapping[QueueKey, Start]) -> list[Anomaly]:
    """In the order of SORTS, one for each topic and broker; never committed last, queues by the rule of their start."""
    # The group's own dead letters and its retired topics have no state: nobody means to consume them.
    own = [row for row in rows if row.state is not None]
    found: list[Anomaly] = []
    for sort in SORTS:
        places: dict[tuple[str, str], list[QueueRow]] = {}
        for row in own:
            if sort.holds(row):
                places.setdefault((row.topic, row.broker), []).append(row)
        found += [_anomaly(sort, of_place) for of_place in places.values()]
    return found + _never_committed(own, starts)


def _anomaly(sort: Sort, rows: Sequence[QueueRow]) -> Anomaly:
    begun = [row.since for row in rows if row.since is not None and row.rule_code == sort.begins_with_rule]
    return at_place(sort.name, rows, sort.says(rows), str(sort.cure), min(begun, default=None))


def at_place(name: str, rows: Sequence[QueueRow], says: str, cure: str, since: datetime | None = None) -> Anomaly:
    """`rows` are of one topic on one broker."""
    topic, broker, ids = rows[0].topic, rows[0].broker, tuple(row.queue_id for row in rows)
    sentence = gettext("%(place)s: %(says)s") % {"place": place(topic, broker, ids), "says": says}
    return Anomaly(name, topic, broker, ids, since, sentence, cure, {} if since else {"since": NOT_SEEN_TO_BEGIN})


def _never_committed(rows: Iterable[QueueRow], starts: Mapping[QueueKey, Start]) -> list[Anomaly]:
    """A queue that nothing was ever written to has nothing to miss."""
    places: dict[tuple[str, str, str | None, str | None], list[QueueRow]] = {}
    for row in rows:
        if row.unknown_reason_code == UnknownReason.NEVER_COMMITTED and row.broker_offset != 0:
            start = starts.get((row.topic, row.broker, row.queue_id), NOT_ASKED)
            places.setdefault((row.topic, row.broker, start.rule, start.error), []).append(row)
    cure = gettext(
        "Usual while no member has consumed there yet. A committed offset always wins: where this start is not wanted, "
        "set one before a member starts."
    )
    found: list[Anomaly] = []
    for of_place in places.values():
        known = [starts.get((row.topic, row.broker, row.queue_id), NOT_ASKED) for row in of_place]
        words = gettext("the group has committed no offset; %s") % _start_words(known)
        found.append(at_place("never_committed", of_place, words, cure))
    return found


def _start_words(starts: Sequence[Start]) -> str:
    """`starts` have one rule and one error."""
    offsets = [start.offset for start in starts if start.offset is not None]
    if not offsets:
        return gettext("where a member would start is not known: %s") % (starts[0].error or NOT_ASKED.error)
    ends = [count(min(offsets)), count(max(offsets))]
    at = ends[0] if ends[0] == ends[1] else gettext("%s to %s") % tuple(ends)
    return gettext("a member would start at %(at)s: %(rule)s") % {"at": at, "rule": starts[0].rule}
