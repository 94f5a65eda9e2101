"""Targets within what a queue holds: moved to its nearer end where that is wanted, else a refusal."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from consumers.resets.facts import QueueFacts
from consumers.resets.wish import QueueKey


@dataclass(frozen=True)
class Aim:
    """One queue with its target, `wanted` before it was clipped. All its offsets but the consumer's are known."""

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
    """For a wish that does not allow it. Null where every target lies within its queue."""
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


# How many messages a moved offset makes a group consume again, or never.


@dataclass(frozen=True)
class Amounts:
    """Null, both of them, where the group never committed: where its members would have begun is theirs to choose."""

    replayed: int | None
    skipped: int | None


def amounts_of(aim: Aim) -> Amounts:
    """Only messages that the queue holds count: expired ones cannot come again, and are lost already. One of both is
    always 0."""
    if aim.now is None:
        return Amounts(None, None)
    now = min(max(aim.now, aim.least), aim.most)
    return Amounts(max(now - aim.target, 0), max(aim.target - now, 0))
