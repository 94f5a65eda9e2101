"""Who asked to see which content of dead letters: kept in Django's own log of actions."""

from datetime import datetime
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from consumers.models import DeadLetter

# Django's own are 1 to 3: added, changed, deleted.
LOOKED = 4
LONGEST = 200


def note_seen(user: Any, what: str, sentence: str, now: datetime) -> None:
    LogEntry.objects.create(
        user_id=user.pk,
        content_type=ContentType.objects.get_for_model(DeadLetter),
        object_repr=what[:LONGEST],
        action_flag=LOOKED,
        change_message=sentence,
        action_time=now,
    )
