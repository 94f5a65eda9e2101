"""Who did what with a job: kept in Django's own log of actions, beside the job itself."""

from datetime import datetime
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model

LONGEST = 200


def note(job: Model, title: str, by: Any, sentence: str, now: datetime) -> None:
    LogEntry.objects.create(
        user_id=by.pk,
        content_type=ContentType.objects.get_for_model(type(job)),
        object_id=str(job.pk),
        object_repr=title[:LONGEST],
        action_flag=CHANGE,
        change_message=sentence,
        action_time=now,
    )
