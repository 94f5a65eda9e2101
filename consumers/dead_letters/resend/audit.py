"""Who did what with a re-send: kept in Django's own log of actions, beside the re-send itself."""

from datetime import datetime
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType

from consumers.models import Resend

LONGEST = 200


def note(resend: Resend, by: Any, sentence: str, now: datetime) -> None:
    LogEntry.objects.create(
        user_id=by.pk,
        content_type=ContentType.objects.get_for_model(Resend),
        object_id=str(resend.pk),
        object_repr=f"{resend.group.name}: {resend.reason}"[:LONGEST],
        action_flag=CHANGE,
        change_message=sentence,
        action_time=now,
    )
