"""Notes about groups as rows, with how many groups each names."""

from collections.abc import Sequence
from fnmatch import translate
from re import compile as expression
from typing import Any

from django.utils.translation import gettext as _

from consumers.models import ConsumerGroup, GroupKind, GroupNote

from .said import said
from .setting_rows import NoteRow

PLAIN = ("position", "group_pattern", "labels", "changed_at")
MAY_BE_NULL = ("cluster", "owner", "runbook_url", "note")


def note_list(*, page: int = 1, page_size: int = 100) -> tuple[list[NoteRow], int]:
    """In the order in which they count, and how many there are. Three queries."""
    start = (page - 1) * page_size
    return _rows(list(GroupNote.objects.order_by("position", "pk")[start : start + page_size])), _count()


def _count() -> int:
    return GroupNote.objects.count()


def find_note(note_id: int) -> NoteRow | None:
    return next(iter(_rows(list(GroupNote.objects.filter(pk=note_id)))), None)


def groups_named(cluster: str, group_pattern: str) -> int:
    """User groups that a pattern with * and ? names, on clusters that another one does ("": all). One query."""
    return _named(_user_groups(), cluster, group_pattern)


def _user_groups() -> Sequence[tuple[str, str]]:
    return list(ConsumerGroup.objects.filter(kind=GroupKind.USER).values_list("cluster__name", "name"))


def _named(groups: Sequence[tuple[str, str]], cluster: str, group_pattern: str) -> int:
    names, is_on = expression(translate(group_pattern)).fullmatch, expression(translate(cluster or "*")).fullmatch
    return sum(1 for of, group in groups if names(group) and is_on(of))


def _rows(notes: list[GroupNote]) -> list[NoteRow]:
    groups = _user_groups() if notes else []
    return [_row(note, _named(groups, note.cluster, note.group_pattern)) for note in notes]


def _row(note: GroupNote, groups: int) -> NoteRow:
    values: dict[str, Any] = {name: getattr(note, name) for name in MAY_BE_NULL}
    values["changed_by"] = note.changed_by_name
    why = {
        "cluster": _("all clusters"),
        **dict.fromkeys(("owner", "runbook_url"), _("none is given")),
        "note": _("nothing is said"),
        "changed_by": _("who changed it is not known"),
    }
    return NoteRow(id=note.pk, **{name: getattr(note, name) for name in PLAIN}, groups=groups, **said(values, why))
