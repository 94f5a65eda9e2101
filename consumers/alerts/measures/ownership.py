"""How many queues of each group nobody consumes though members are there, and how many are consumed by two."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

from django.utils.translation import gettext, ngettext

from consumers.alerts.measured import Column
from consumers.models import Client, ConsumerGroup
from consumers.selectors.groups.row import NOT_ASKED
from consumers.selectors.overlay import iso
from consumers.selectors.ownership.findings import ownership_check
from consumers.selectors.ownership.sharing import EVERY_MEMBER
from consumers.selectors.ownership.troubles.evidence import CALM
from consumers.vocabulary.groups import BROADCASTING

from .number_column import number_column
from .scan import GroupFacts, GroupScan
from .shared_queues import NOTHING_FOUND, Found, held_twice, nobodys
from .spared import why_nobody_holds

Look = Callable[[Collection[int], datetime], dict[int, Found]]
# Of a group with two processes under one id it takes a check of all that it computes to tell which queues both hold.
MOST_CHECKED = 50


def unowned(scan: GroupScan, topic: str | None = None) -> Column:
    return _column(scan, nobodys, "unowned", topic, _said_unowned)


def doubly_owned(scan: GroupScan, topic: str | None = None) -> Column:
    return _column(scan, held_twice, "doubly_owned", topic, _said_doubly)


def _said_unowned(value: float) -> str:
    return ngettext("%d queue consumed by nobody", "%d queues consumed by nobody", round(value)) % round(value)


def _said_doubly(value: float) -> str:
    said = ngettext("%d queue consumed by two members", "%d queues consumed by two members", round(value))
    return said % round(value)


def _column(scan: GroupScan, look: Look, kind: str, topic: str | None, words: Callable[[float], str]) -> Column:
    """`topic`: only queues of it are counted."""
    comparable = {row.id for place, row in enumerate(scan.rows) if _why_not(scan, place) is None}
    found = look(comparable, scan.now) | _of_processes(comparable, kind, scan.now)

    def value(place: int) -> float | None:
        row = scan.rows[place]
        if _has_none(row):
            return 0.0
        if row.id not in comparable:
            return None
        of_group = found.get(row.id, NOTHING_FOUND)
        count = sum(of_group.topics.values()) if topic is None else of_group.topics.get(topic, 0)
        return None if not count and of_group.unsure else float(count)

    def reason(place: int) -> str:
        who = found.get(scan.rows[place].id, NOTHING_FOUND).unsure
        return _why_not(scan, place) or gettext("%s has not said which queues it holds") % who

    def spared(place: int) -> str | None:
        return EVERY_MEMBER if scan.rows[place].message_model == BROADCASTING else None

    return number_column([value(place) for place in range(len(scan.rows))], reason, words, spared=spared)


def _has_none(row: GroupFacts) -> bool:
    """Nobody is there to leave a queue, or every member holds all of them."""
    return row.unread_by is None and (row.members == 0 or row.message_model == BROADCASTING)


def _why_not(scan: GroupScan, place: int) -> str | None:
    """Why it is not told who holds what; None where two whole readings agree."""
    row, now = scan.rows[place], scan.now
    if reason := scan.unread_reason(place) or why_nobody_holds(row):
        return reason
    if row.membership_at is None or row.membership_error is not None:
        return row.membership_error or NOT_ASKED
    if now - row.membership_at > timedelta(seconds=scan.overlay.limits.kinds.evidence_seconds):
        return gettext("not every broker has said since %s who is in the group") % iso(row.membership_at)
    if row.settled_at is None or (row.members_changed_at is not None and now - row.members_changed_at < CALM):
        return gettext("settling: two whole readings in a row must agree on who holds what")
    return None


def _of_processes(groups: Collection[int], kind: str, now: datetime) -> dict[int, Found]:
    """Of groups in which two processes share an id. Some ten queries for each of them, of which there are few."""
    rows = Client.objects.filter(gone_by=None, duplicated_since__isnull=False).order_by("group_id")
    found = [group for group in rows.values_list("group_id", flat=True).distinct() if group in groups]
    unsure = gettext("one of the processes that share an id")
    results = {group: Found({}, unsure) for group in found[MOST_CHECKED:]}
    for group in ConsumerGroup.objects.filter(pk__in=found[:MOST_CHECKED]).select_related("cluster"):
        topics: dict[str, int] = {}
        for finding in ownership_check(group, now).findings:
            for queue in getattr(finding, kind):
                topics[queue.topic] = topics.get(queue.topic, 0) + 1
        results[group.pk] = Found(topics, "")
    return results
