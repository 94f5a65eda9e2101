"""For how long a member of each group has held its oldest unfinished message."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from consumers.alerts.measured import Column, number_column
from consumers.alerts.measures.spared import silent_groups
from consumers.groups.row import NOT_ASKED
from consumers.models import GroupKind, Measure, SubjectKind
from consumers.polling.heads.look_up import standing_heads
from consumers.queries.texts import age

from .measure_spec import MeasureSpec, Unit
from .scan import GroupScan
from .spared import why_nobody_holds
from .topic_parts import TopicScan

Head = tuple[datetime, str, str, int, str]  # since, topic, broker, queue id, client id
COLUMNS = ("group_id", "head_since", "queue__topic__name", "queue__broker", "queue__queue_id", "client_id")


def blocked(scan: GroupScan) -> Column:
    """Two queries."""
    return blocked_column(scan, longest_held(scan.now), silent_groups())


def blocked_column(scan: GroupScan, heads: Mapping[int, Head], silent: Mapping[int, str]) -> Column:
    """`heads` by group id, the oldest of each; `silent`: groups with a member that has not reported the messages it
    holds.
    """
    values = [_seconds(scan, place, heads, silent) for place in range(len(scan.rows))]

    def since(place: int) -> datetime | None:
        head = heads.get(scan.rows[place].id)
        return head[0] if head is not None else None

    def words(value: float, head: Head | None) -> str:
        if head is None:
            return gettext("no member holds a message that was there at the answer before")
        _, topic, broker, queue_id, client_id = head
        said = {"client": client_id, "place": f"{topic}/{broker}/{queue_id}", "age": age(value)}
        return gettext("%(client)s has held the same oldest message of %(place)s for %(age)s") % said

    column = number_column(values, lambda place: _reason(scan, place, silent), age, since=since)

    def evidence(place: int) -> str:
        value = values[place]
        return column.reason(place) if value is None else words(value, heads.get(scan.rows[place].id))

    return Column(values, column.reason, evidence, since)


def longest_held(now: datetime, **of_heads: Any) -> dict[int, Head]:
    """The oldest held message of each user group; `of_heads` filters the queues. One query."""
    rows = standing_heads(0, now, kind=GroupKind.USER).filter(**of_heads)
    found = rows.order_by("-head_since", "-pk").values_list(*COLUMNS)
    return {group: head for group, *head in found}


def _seconds(scan: GroupScan, place: int, heads: Mapping[int, Head], silent: Mapping[int, str]) -> float | None:
    row = scan.rows[place]
    if _why_untold(scan, place) is not None:
        return None
    head = heads.get(row.id)
    if head is not None:
        return (scan.now - head[0]).total_seconds()
    return None if row.id in silent else 0.0


def _why_untold(scan: GroupScan, place: int) -> str | None:
    row = scan.rows[place]
    if reason := scan.unread_reason(place) or why_nobody_holds(row):
        return reason
    return (row.membership_error or str(NOT_ASKED)) if row.members is None else None


def _reason(scan: GroupScan, place: int, silent: Mapping[int, str]) -> str:
    who = silent.get(scan.rows[place].id)
    return _why_untold(scan, place) or gettext("%s has not said which messages it holds") % who


def _blocked_of_topic(of: TopicScan) -> Column:
    return blocked_column(of.scan, longest_held(of.scan.now, queue__topic__name=of.topic), silent_groups())


MEASURES = (
    MeasureSpec(
        code=Measure.BLOCKED,
        unit=Unit.SECONDS,
        reads={SubjectKind.GROUP: blocked, SubjectKind.TOPIC: _blocked_of_topic},
    ),
)
