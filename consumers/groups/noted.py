"""Filters of groups by what notes say of them (owner, labels), and by broker, in SQL.

A note counts for a group as in consumers/alerts/notes.py, which a test compares: of several notes that say the same
field or label, the first by priority.
"""

import re
from collections.abc import Callable
from typing import Any

from django.db.models import Case, CharField, Q, QuerySet, Value, When
from django.utils.translation import gettext

from consumers.models import Broker, GroupNote, QueueSnapshot


def of_owner(owner: str, groups: QuerySet[Any]) -> QuerySet[Any]:
    """Groups whose notes name this owner. One query more."""
    return _where_noted(groups, lambda note: note.owner, owner)


def of_label(name: str, value: str | None, groups: QuerySet[Any]) -> QuerySet[Any]:
    """Groups to which notes give this label, of any value where `value` is null. One query more."""
    return _where_noted(groups, lambda note: note.labels.get(name, ""), value)


def on_broker(broker: str) -> Q:
    """Groups with offsets on a broker of that name."""
    return Q(pk__in=QueueSnapshot.objects.filter(queue__broker=broker).order_by().values("group"))


def label_of(text: str) -> tuple[str, str | None]:
    """Name and value of `team=payments`; of `team` alone any value. Raises ValueError with a sentence."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not name or (equals and not value):
        raise ValueError(gettext("“%(label)s” is not a label: write NAME=VALUE, or NAME alone.") % {"label": text})
    return name, value or None


def known_owners() -> list[str]:
    """All owners that notes name. One query."""
    return list(GroupNote.objects.exclude(owner="").order_by("owner").values_list("owner", flat=True).distinct())


def known_labels() -> list[str]:
    """All labels that notes give, as NAME=VALUE. One query."""
    rows = GroupNote.objects.values_list("labels", flat=True)
    return sorted({f"{name}={value}" for labels in rows for name, value in labels.items()})


def known_brokers() -> list[str]:
    """Names of brokers, of all clusters. One query."""
    return list(Broker.objects.order_by("name").values_list("name", flat=True).distinct())


def _where_noted(groups: QuerySet[Any], text_of: Callable[[GroupNote], str], wanted: str | None) -> QuerySet[Any]:
    notes = [note for note in GroupNote.objects.order_by("position", "pk") if text_of(note)]
    if not notes:
        return groups.none()
    words = Case(
        *(When(_takes(note), then=Value(text_of(note))) for note in notes), default=Value(""), output_field=CharField()
    )
    named = groups.alias(said_by_notes=words)
    return named.exclude(said_by_notes="") if wanted is None else named.filter(said_by_notes=wanted)


def _takes(note: GroupNote) -> Q:
    return _fits("cluster__name", note.cluster) & _fits("name", note.group_pattern)


def _fits(column: str, pattern: str) -> Q:
    if not pattern:
        return Q()
    if "*" not in pattern and "?" not in pattern:
        return Q(**{column: pattern})
    marks = {"*": ".*", "?": "."}
    return Q(**{f"{column}__regex": f"^{''.join(marks.get(one) or re.escape(one) for one in pattern)}$"})
