"""How far a broker is behind with its dispatch: what its commit log has, and its consume queues do not have yet.

Consumers cannot get such messages, and the broker offset of their queue does not count them: a lag there is a lower
bound. A broker under load is behind by some bytes at every moment, so that only more than a limit counts.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import RocketMQError
from consumers.vocabulary.reasons import PollProblem, stored_reason

MIB = 2**20
# A broker that refuses the call, or is too slow with it, is not asked at every poll.
PAUSE = timedelta(seconds=60)


def limit_bytes() -> float:
    """A broker that is further behind hides messages from its offsets."""
    return settings.POLL_DISPATCH_BEHIND_MIB * MIB


@dataclass(frozen=True)
class DispatchBacklog:
    """`behind_bytes` is null where it is unknown; `error` then says why."""

    behind_bytes: int | None
    error: str | None = None

    def hides_more_than(self, limit_bytes: float) -> int | None:
        """By how many bytes the broker is behind, where that is more than the limit; None elsewhere."""
        return self.behind_bytes if self.behind_bytes is not None and self.behind_bytes > limit_bytes else None


@dataclass
class DispatchMemory:
    """One per broker: the last failure, and when the broker is asked again after it."""

    asked_from: datetime | None = None
    error: str | None = None

    async def read(self, admin: BrokerAdmin, now: datetime, deadline_seconds: float) -> DispatchBacklog:
        """Never raises for what the broker does, and waits for half the deadline: a lag does not need this answer."""
        if self.asked_from is not None and now < self.asked_from:
            return DispatchBacklog(None, self.error)
        try:
            behind = await admin.dispatch_behind_bytes(deadline_seconds=deadline_seconds / 2)
        except RocketMQError as failure:
            return self._failed(str(failure), now)
        if behind is None:
            return self._failed(stored_reason(PollProblem.NO_DISPATCH_BACKLOG), now)
        self.asked_from = self.error = None
        return DispatchBacklog(behind)

    def _failed(self, error: str, now: datetime) -> DispatchBacklog:
        self.asked_from, self.error = now + PAUSE, error
        return DispatchBacklog(None, error)
