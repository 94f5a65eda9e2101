"""The acts around a reset, one row each, in the order in which they came."""

from datetime import datetime

from consumers.models import Reset, ResetEvent
from consumers.resets.wish import Asker

WORKER = "worker"


def note_act(reset: Reset, asker: Asker, sentence: str, now: datetime) -> None:
    ResetEvent.objects.create(
        reset=reset,
        at=now,
        by_name=asker.user.get_username(),
        address=asker.address,
        via=asker.via,
        sentence=sentence,
    )


def note_work(reset: Reset, sentence: str, now: datetime) -> None:
    """What a worker did by itself."""
    ResetEvent.objects.create(reset=reset, at=now, via=WORKER, sentence=sentence)
