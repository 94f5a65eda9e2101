"""Notes who asked to see which content of dead letters."""

from datetime import datetime
from typing import Any

from consumers.errands import audit
from consumers.models import DeadLetter


def note_seen(user: Any, what: str, sentence: str, now: datetime) -> None:
    audit.note_seen(DeadLetter, what, user, sentence, now)
