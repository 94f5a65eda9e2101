"""What people say of groups: who owns them, where their runbook is, and the labels that select them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from consumers.alerts.subjects import Subject
from consumers.models import GroupNote

from .selection import Selection


@dataclass(frozen=True)
class Said:
    """Empty: nobody said it."""

    owner: str = ""
    runbook_url: str = ""
    note: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


NOTHING_SAID = Said()


@dataclass(frozen=True)
class Notes:
    """All notes in their order. The first that has a field tells it; labels add up, of one name the first counts."""

    rows: Sequence[tuple[Selection, Said]] = ()
    _said: dict[tuple[str, str], Said] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of_site(cls) -> "Notes":
        """One query."""
        return notes_of(GroupNote.objects.order_by("position", "pk"))

    def said(self, subject: Subject) -> Said:
        """Nothing is said of what is no group, nor a group's part of a topic."""
        if not self.rows or not subject.group:
            return NOTHING_SAID
        key = subject.cluster, subject.group
        if key not in self._said:
            self._said[key] = _united([said for selection, said in self.rows if selection.takes(subject)])
        return self._said[key]

    def labels(self, subjects: Iterable[Subject]) -> list[Mapping[str, str]]:
        return [self.said(subject).labels for subject in subjects]


def notes_of(rows: Iterable[GroupNote]) -> Notes:
    """`rows` in the order in which they count."""
    return Notes(
        [
            (Selection(row.cluster, row.group_pattern), Said(row.owner, row.runbook_url, row.note, row.labels))
            for row in rows
        ]
    )


def _united(said: Sequence[Said]) -> Said:
    if not said:
        return NOTHING_SAID
    labels: dict[str, str] = {}
    for one in reversed(said):
        labels |= one.labels
    return Said(
        owner=next((one.owner for one in said if one.owner), ""),
        runbook_url=next((one.runbook_url for one in said if one.runbook_url), ""),
        note=next((one.note for one in said if one.note), ""),
        labels=labels,
    )
