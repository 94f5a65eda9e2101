"""Whether a client that says the same as long ago has done the same all the time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.models import Client, ConsumerGroup
from consumers.polling.reading import ClientReading

PASSIVE = "CONSUME_PASSIVELY"


@dataclass(frozen=True)
class Continuity:
    """Until when nothing is known to have happened to clients that did not speak: by their groups as they were.

    `longest`: after so long without a word, a client has to prove itself that nothing happened.
    """

    groups: Mapping[int, ConsumerGroup]
    longest: timedelta

    def holds(self, before: Client, reading: ClientReading, now: datetime) -> bool:
        """A push consumer stamps its subscription whenever it gets or loses a queue (RocketMQ 5.4.0,
        RebalancePushImpl.messageQueueChanged), so the same stamp is a proof for any time."""
        if before.running_info_at is None:
            return True
        group = self.groups[before.group_id]
        known_until, changed_at, asked_at = before.running_info_at, group.members_changed_at, group.membership_at
        if changed_at is not None and asked_at is not None and changed_at <= known_until:
            known_until = max(known_until, asked_at)
        if now - known_until <= self.longest:
            return True
        same = reading.sub_version is not None and reading.sub_version == before.sub_version
        return same and group.consume_type == PASSIVE
