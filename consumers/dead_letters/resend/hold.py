"""Which worker a running re-send belongs to: the one whose mark of life stands in its row.

The mark is replaced only by who knows the last one, so that a worker that was taken for dead finds out before it sends
another message. The clock is that of the workers; they must agree to within some seconds.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from consumers.models import Resend, ResendStatus

# A worker that was not seen for so long is taken for dead.
STALE = timedelta(seconds=30)
# An own mark that is older is renewed before anything is sent: with a call's deadline on top it is still not stale.
FRESH = timedelta(seconds=10)


class NotHeld(Exception):
    """Another worker has the re-send, or it does not run (any more)."""


class Hold:
    def __init__(self, resend_id: UUID, at: datetime) -> None:
        self.resend_id = resend_id
        self.at = at

    @classmethod
    def take(cls, resend_id: UUID, now: datetime) -> "Hold":
        """Raises NotHeld."""
        free = Q(working_at=None) | Q(working_at__lt=now - STALE)
        running = Resend.objects.filter(free, pk=resend_id, status=ResendStatus.RUNNING)
        if not running.update(working_at=now):
            raise NotHeld(f"The re-send {resend_id} does not run, or another worker has it.")
        return cls(resend_id, now)

    def renew(self, now: datetime) -> None:
        """Raises NotHeld: whoever does must not send, nor write what became of messages."""
        own = Resend.objects.filter(pk=self.resend_id, status=ResendStatus.RUNNING, working_at=self.at)
        if not own.update(working_at=now):
            raise NotHeld(f"The re-send {self.resend_id} was taken over by another worker.")
        self.at = now

    def renew_if_old(self, now: datetime) -> None:
        if now - self.at > FRESH:
            self.renew(now)
