"""One queue whose committed offset is gone from its broker: what is still known, and what a start there would do."""

from dataclasses import dataclass, fields
from datetime import datetime

from django.utils.translation import gettext

from consumers.models import QueueSnapshot
from consumers.selectors.text.measures import count, messages
from consumers.stores.start import Start
from consumers.vocabulary.unknown import UnknownReason

from .lost_offsets import last_read, seen_on

NOT_LOST = "no offset of it is lost"
NOT_KNOWN_BEFORE = "its last known offset is not known"


@dataclass(frozen=True)
class QueueLoss:
    """Null where the offset is not lost, or not known. `start_reason`: why `would_start_at` is null."""

    lost_offset: int | None = None
    lost_at: datetime | None = None
    would_start_at: int | None = None
    would_start_rule: str | None = None
    start_reason: str = NOT_LOST

    @property
    def would_skip_messages(self) -> int | None:
        return self._apart(1)

    @property
    def would_redeliver_messages(self) -> int | None:
        return self._apart(-1)

    def _apart(self, direction: int) -> int | None:
        if self.would_start_at is None or self.lost_offset is None:
            return None
        return max(0, direction * (self.would_start_at - self.lost_offset))

    @property
    def values(self) -> dict[str, int | str | datetime | None]:
        known = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "start_reason"}
        return known | {name: getattr(self, name) for name in ("would_skip_messages", "would_redeliver_messages")}

    @property
    def reasons(self) -> dict[str, str]:
        """Why each would be null."""
        why = NOT_LOST if self.start_reason == NOT_LOST else NOT_KNOWN_BEFORE
        apart = self.start_reason if self.would_start_at is None else why
        return {
            **dict.fromkeys(("lost_offset", "lost_at"), why),
            **dict.fromkeys(("would_start_at", "would_start_rule"), self.start_reason),
            **dict.fromkeys(("would_skip_messages", "would_redeliver_messages"), apart),
        }

    def sentence(self, slave: str | None) -> list[str]:
        """`offset lost`, `last known offset 7`, `last read …`, `a member would start at 10 (…)`, `skips 3 messages`."""
        parts = [gettext("offset lost")]
        if self.lost_offset is not None:
            parts.append(gettext("last known offset %s") % count(self.lost_offset))
        parts += last_read(self.lost_at)
        if self.would_start_at is None:
            parts.append(gettext("where a member would start is not known: %s") % self.start_reason)
        else:
            words = {"offset": count(self.would_start_at), "rule": self.would_start_rule}
            parts.append(gettext("a member would start at %(offset)s (%(rule)s)") % words)
            parts += self._difference()
        return [*parts, *([seen_on(slave)] if slave is not None else [])]

    def _difference(self) -> list[str]:
        skipped, redelivered = self.would_skip_messages, self.would_redeliver_messages
        if skipped:
            return [gettext("skips %s") % messages(skipped)]
        if redelivered:
            return [gettext("redelivers %s") % messages(redelivered)]
        return [gettext("skips and redelivers nothing")] if skipped == 0 else []


NO_LOSS = QueueLoss()


def is_lost(snapshot: QueueSnapshot) -> bool:
    return snapshot.unknown_reason == UnknownReason.OFFSET_LOST


def queue_loss(snapshot: QueueSnapshot, start: Start | None) -> QueueLoss:
    """`start`: where a member would start, of a queue that is lost; None: not known to anybody."""
    if is_lost(snapshot):
        found = start or Start(None, "", "its broker is not read")
        return QueueLoss(
            snapshot.lost_offset, snapshot.lost_at, found.offset, found.rule or None, found.reason or NOT_KNOWN_BEFORE
        )
    if snapshot.unknown_reason == UnknownReason.NEVER_COMMITTED and snapshot.lost_offset is not None:
        return QueueLoss(snapshot.lost_offset, snapshot.lost_at, start_reason=ACKNOWLEDGED)
    return NO_LOSS


ACKNOWLEDGED = "its loss was acknowledged: see offsets/ for where a member would start"


def acknowledged_words(snapshot: QueueSnapshot) -> list[str]:
    """What a queue that counts as never committed once had."""
    if snapshot.unknown_reason != UnknownReason.NEVER_COMMITTED or snapshot.lost_offset is None:
        return []
    return [gettext("offset %s was lost, acknowledged") % count(snapshot.lost_offset), *last_read(snapshot.lost_at)]
