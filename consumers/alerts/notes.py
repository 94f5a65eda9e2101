"""Notes about groups: owner, runbook, and the labels that select them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext, gettext_lazy as _, pgettext_lazy

from consumers.alerts.rule_terms import Selection
from consumers.models import GroupNote

from . import fields as check
from .fields import AlertRefused, EntryField, Shape, WrongValue, checked_fields, checks_of, defaults_of
from .measured import Subject

LAST_POSITION = 100_000


def _position(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LAST_POSITION:
        raise WrongValue(
            gettext("Must be a whole number from 0 to %s; the lowest number takes precedence.") % LAST_POSITION
        )
    return value


NOTE_FIELDS = (
    EntryField(
        name="position",
        shape=Shape.WHOLE,
        check=_position,
        default=0,
        longest=LAST_POSITION,
        label=_("Priority"),
        hint=_("the lowest number takes precedence"),
        help_text="By default 0",
    ),
    EntryField(
        name="cluster",
        label=_("Cluster"),
        hint=_("empty: all"),
        shape=Shape.TEXT,
        check=check.pattern(100),
        default="",
        longest=100,
    ),
    EntryField(
        name="group_pattern",
        label=_("Groups"),
        hint=_("a name, or a pattern with * and ?"),
        shape=Shape.TEXT,
        check=check.pattern(255, required=True),
        longest=255,
        help_text="With * and ?",
    ),
    EntryField(
        name="owner",
        label=pgettext_lazy("of a group", "Owner"),
        hint=_("a team or a person"),
        shape=Shape.TEXT,
        check=check.text(200),
        default="",
        longest=200,
    ),
    check.runbook_field(_("https://…")),
    check.note_field(_("background, and the first steps")),
    check.labels_field(_("team=payments, one per line")),
)
CHECKS = checks_of(NOTE_FIELDS)
CONTENT = ("owner", "runbook_url", "note", "labels")


def checked_note(fields: Mapping[str, Any], note: GroupNote | None = None) -> dict[str, Any]:
    """All fields of a note that people write, ready to be stored. Raises AlertRefused.

    What `fields`, in JSON's types, leaves out is as in `note`, or empty.
    """
    before = defaults_of(NOTE_FIELDS) if note is None else {name: getattr(note, name) for name in CHECKS}
    values, errors = checked_fields(before | dict(fields), CHECKS)
    if "group_pattern" not in values and "group_pattern" not in errors:
        errors["group_pattern"] = gettext("Required: * matches every group.")
    if not errors and not any(values[name] for name in CONTENT):
        errors["owner"] = gettext("Enter at least one of owner, runbook, note and labels.")
    if errors:
        raise AlertRefused(errors)
    return values


@dataclass(frozen=True)
class NoteContent:
    """An empty field: no note sets it."""

    owner: str = ""
    runbook_url: str = ""
    note: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


EMPTY_NOTE = NoteContent()


@dataclass(frozen=True)
class Notes:
    """All notes in their order. The first note that sets a field counts; labels add up, and of equal names the first
    counts.
    """

    rows: Sequence[tuple[Selection, NoteContent]] = ()
    _contents: dict[tuple[str, str], NoteContent] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of_site(cls) -> "Notes":
        """One query."""
        return notes_of(GroupNote.objects.order_by("position", "pk"))

    def said(self, subject: Subject) -> NoteContent:
        """Nothing applies to subjects that are neither a group nor a group's part of a topic."""
        if not self.rows or not subject.group:
            return EMPTY_NOTE
        key = subject.cluster, subject.group
        if key not in self._contents:
            self._contents[key] = _united([content for selection, content in self.rows if selection.takes(subject)])
        return self._contents[key]

    def labels(self, subjects: Iterable[Subject]) -> list[Mapping[str, str]]:
        return [self.said(subject).labels for subject in subjects]


def notes_of(rows: Iterable[GroupNote]) -> Notes:
    """`rows` in order of priority."""
    return Notes(
        [
            (Selection(row.cluster, row.group_pattern), NoteContent(row.owner, row.runbook_url, row.note, row.labels))
            for row in rows
        ]
    )


def _united(contents: Sequence[NoteContent]) -> NoteContent:
    if not contents:
        return EMPTY_NOTE
    labels: dict[str, str] = {}
    for one in reversed(contents):
        labels |= one.labels
    return NoteContent(
        owner=next((one.owner for one in contents if one.owner), ""),
        runbook_url=next((one.runbook_url for one in contents if one.runbook_url), ""),
        note=next((one.note for one in contents if one.note), ""),
        labels=labels,
    )
