"""What users do: an audit event of each act, or a sentence that says why it is refused. Events outlive the user."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Model

from consumers.models import AuditAction, AuditEvent

LONGEST = 200


def note(
    subject: Model, title: str, by: Any, sentence: str, now: datetime, action: AuditAction = AuditAction.CHANGED
) -> None:
    """`title`: what people call the subject."""
    _note(type(subject), str(subject.pk), title, by, sentence, now, action)


def note_seen(model: type[Model], title: str, by: Any, sentence: str, now: datetime) -> None:
    """Somebody asked for content that not everybody may see; `title` says which."""
    _note(model, None, title, by, sentence, now, AuditAction.SEEN)


def _note(
    model: type[Model],
    subject_id: str | None,
    title: str,
    by: Any,
    sentence: str,
    now: datetime,
    action: AuditAction,
) -> None:
    AuditEvent.objects.create(
        at=now,
        by_name=by.get_username(),
        action=action,
        subject_kind=str(model._meta.model_name),
        subject_id=subject_id,
        subject=title[:LONGEST],
        sentence=sentence,
    )


# A refused request: REST answers it as a problem, pages show its sentence.
class ActRefused(Exception):
    """The act is refused and nothing was changed. str() is one sentence or more: why, and what to do. `errors`: by
    field what is wrong with it; empty, or with the field "", where the present situation does not permit the act."""

    errors: Mapping[str, str | Sequence[str]] = {}
