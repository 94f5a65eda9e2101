"""Notes about groups, written and removed."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from consumers.alerts.notes import checked_note
from consumers.errands.audit import note as log
from consumers.models import GroupNote


@transaction.atomic
def keep_note(fields: Mapping[str, Any], note: GroupNote | None, by: Any, now: datetime) -> GroupNote:
    """`note` with `fields`, see `checked_note`; one more where it is None. Raises AlertRefused."""
    values = checked_note(fields, note)
    kept = note or GroupNote()
    for name, value in values.items():
        setattr(kept, name, value)
    kept.changed_at, kept.changed_by_name = now, by.get_username()
    kept.save()
    log(kept, kept.group_pattern, by, "Made the note." if note is None else "Changed the note.", now)
    return kept


@transaction.atomic
def remove_note(note: GroupNote, by: Any, now: datetime) -> None:
    log(note, note.group_pattern, by, "Removed the note.", now)
    note.delete()
