"""A broker's queue and the members of a group, as RocketMQ 5.4.0 moves their offsets, a quarter of a second at a time.

Each offset carries its origin: whether it goes back to the target of a reset. That is the truth which a verdict is held
against, and which nobody can read from a broker.
"""

import random
from dataclasses import dataclass, field

from consumers.models import ResetMethod

TICK = 0.25
SOON, LONG_POLL = (0.25, 1.0), (5.0, 20.0)


@dataclass
class At:
    offset: float
    ours: bool


@dataclass
class Stored:
    """`mark`: the target, from a reset by the broker until somebody pulls. `was_ours`: the target was stored once."""

    at: At | None
    end: float
    marking: bool
    mark: float | None = None
    was_ours: bool = False

    def reset(self, target: float) -> None:
        self.at, self.was_ours = At(target, True), True
        self.mark = target if self.marking else None

    def commit(self, at: At) -> None:
        if self.mark is not None:
            return
        self.put(at)

    def put(self, at: At) -> None:
        self.at = At(float(int(at.offset)), at.ours)
        self.was_ours = self.was_ours or at.ours

    @property
    def told(self) -> int | None:
        return None if self.at is None else int(self.at.offset if self.mark is None else self.mark)


@dataclass
class Member:
    """A push consumer that owns the queue. `old`: before 5.2. `deaf`: takes no notice of what it is told."""

    name: str
    memory: At
    rate: float
    commit_every: float
    dice: random.Random
    old: bool = False
    deaf: bool = False
    next_commit: float = 0.0
    next_pull: float = 0.0
    begins_at: float | None = None
    target: float = 0.0
    began: bool = False

    def tell(self, now: float, target: float) -> None:
        """By a broker that moves nothing itself, or by one that was asked for messages by an old member."""
        if not self.deaf:
            self.begins_at, self.target = now + 10.0, target

    def tick(self, now: float, stored: Stored) -> None:
        if self.begins_at is None:
            self._consume(stored)
            if now >= self.next_pull:
                self._pull(now, stored)
        elif now >= self.begins_at:
            self._begin(now, stored)
        if now >= self.next_commit:
            stored.commit(self.memory)
            self.next_commit = now + self.commit_every

    def _consume(self, stored: Stored) -> None:
        self.memory = At(
            max(self.memory.offset, min(self.memory.offset + self.rate * TICK, stored.end)), self.memory.ours
        )

    def _pull(self, now: float, stored: Stored) -> None:
        self.next_pull = now + self.dice.uniform(*(LONG_POLL if self.memory.offset >= stored.end else SOON))
        if stored.mark is None:
            return
        target, stored.mark = stored.mark, None
        stored.put(self.memory)
        if self.old:
            return self.tell(now, target)
        if not self.deaf:
            self.target = target
            self._begin(now, stored)

    def _begin(self, now: float, stored: Stored) -> None:
        self.memory, self.begins_at, self.began = At(self.target, True), None, True
        self.next_pull = now + 0.25
        stored.put(self.memory)


@dataclass
class Group:
    """One member at a time. `silent_until`: the broker does not answer before."""

    stored: Stored
    dice: random.Random
    member: Member | None = None
    begun: bool = False
    silent_until: float = -1.0
    joined_at: float = -60.0
    produced: float = 0.0
    acts: list[tuple[float, str]] = field(default_factory=list)

    def join(self, name: str, *, rate: float, commit_every: float, old: bool, deaf: bool) -> None:
        found = self.stored.told
        start = At(0.0 if found is None else float(found), bool(self.stored.at and self.stored.at.ours))
        self.member = Member(name, start, rate, commit_every, self.dice, old, deaf)
        self.begun = self.begun or start.ours

    def leave(self, *, orderly: bool) -> None:
        if self.member is not None and orderly:
            self.stored.commit(self.member.memory)
        self.member = None

    def restart_broker(self, now: float, lost_to: At | None) -> None:
        """The mark is in memory only; an offset that was not flushed yet is gone too."""
        self.silent_until, self.stored.mark = now + 3.0, None
        if lost_to is not None:
            self.stored.put(lost_to)

    def tick(self, now: float) -> None:
        self.stored.end += self.produced * TICK
        if self.member is not None and now >= self.silent_until:
            self.member.tick(now, self.stored)
            self.begun = self.begun or self.member.memory.ours

    @property
    def is_about_to_begin(self) -> bool:
        """Its member was told to, and its own offset is the target too: whoever comes instead begins there."""
        member = self.member
        return member is not None and member.begins_at is not None and self.stored.told == int(member.target)

    @property
    def members(self) -> tuple[str, ...]:
        return () if self.member is None else (self.member.name,)


METHODS = (ResetMethod.SERVER, ResetMethod.COMMIT, ResetMethod.CLIENT)
