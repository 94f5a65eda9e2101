"""Targets within the range of a queue: clipped to the nearer end where the request allows it, else refused."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from consumers.resets.facts import QueueFacts
from consumers.resets.wish import QueueKey


@dataclass(frozen=True)
class Aim:
    """One queue with its target; `wanted` is the target before clipping. All its offsets but the consumer's
    are known.
    """

    key: QueueKey
    now: int | None
    least: int
    most: int
    wanted: int

    @property
    def target(self) -> int:
        return min(max(self.wanted, self.least), self.most)

    @property
    def clipped(self) -> bool:
        return self.target != self.wanted


def aim(queue: QueueFacts, wanted: int) -> Aim:
    if queue.min_offset is None or queue.max_offset is None:
        raise ValueError(f"{queue.key} was not read, so that it has no target")
    return Aim(queue.key, queue.now_offset, queue.min_offset, queue.max_offset, wanted)


def why_not_clipped(aims: Sequence[Aim]) -> str | None:
    """The refusal of a request that does not allow clipping. Null where every target is within its queue."""
    outside = [one for one in aims if one.clipped]
    if not outside:
        return None
    worst = max(outside, key=lambda one: abs(one.target - one.wanted))
    words = {
        "n": len(outside),
        "all": len(aims),
        "queue": f"{worst.key.topic}/{worst.key.broker}/{worst.key.queue_id}",
        "wanted": worst.wanted,
        "least": worst.least,
        "most": worst.most,
    }
    return (
        _(
            "Targets outside of what their queues hold: %(n)s of %(all)s. The farthest is %(wanted)s of %(queue)s, "
            "which holds %(least)s to %(most)s. Choose another target, or let targets be clipped to the nearer end."
        )
        % words
    )


# How many messages a moved offset makes a group consume again, or skip.


@dataclass(frozen=True)
class Amounts:
    """Both are null where the group never committed: its members choose where to start."""

    replayed: int | None
    skipped: int | None


def amounts_of(aim: Aim) -> Amounts:
    """Only messages that the queue holds count: expired ones cannot be redelivered, and are already lost. One of the
    two numbers is always 0.
    """
    if aim.now is None:
        return Amounts(None, None)
    now = min(max(aim.now, aim.least), aim.most)
    return Amounts(max(now - aim.target, 0), max(aim.target - now, 0))
