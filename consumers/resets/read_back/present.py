"""The members of the group while its queues were read back, folded over all rounds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from consumers.resets.planning.gather import Membership

# How a client takes an offset that the broker corrects is known of RocketMQ's own push consumers in Java alone. Where
# members pop, the broker itself goes on from there (5.4.0, PopMessageProcessor.resetPopOffset).
PUSH, POP, JAVA = "CONSUME_PASSIVELY", "CONSUME_POP", "JAVA"


@dataclass(frozen=True)
class Present:
    """`then`: client ids as the reset was applied; `first` and `now`: at the first and at the latest look since.

    Null: not known, and of `now` `error` says why. `met_at`: the first look at which anybody was there.
    """

    then: frozenset[str] | None
    first: frozenset[str] | None = None
    now: frozenset[str] | None = None
    met_at: datetime | None = None
    looked: bool = False
    steady: bool = True
    lost: bool = False
    obeying: bool = True
    error: str | None = None

    @classmethod
    def at_apply(cls, members: Iterable[str] | None) -> "Present":
        return cls(None if members is None else frozenset(members))

    def look(self, at: datetime, found: Membership) -> "Present":
        if found.members is None:
            return replace(self, now=None, error=found.error, looked=True)
        now = frozenset(found.members)
        earlier = self.then if self.now is None else self.now
        push = found.consume_type == PUSH and set(found.languages) <= {JAVA}
        follow = push or found.consume_type == POP or not now
        return replace(
            self,
            first=self.first if self.looked else now,
            now=now,
            met_at=self.met_at or (at if now else None),
            looked=True,
            steady=self.steady and now == self.then,
            lost=self.lost or not (earlier or frozenset()) <= now,
            obeying=self.obeying and follow,
            error=None,
        )

    @property
    def nobody(self) -> bool:
        """No member was there when it was written, nor in any round since."""
        return self.then == frozenset() and self.now == frozenset() and self.steady

    @property
    def came_after(self) -> bool:
        """Every member that is or was there joined after it was written."""
        return self.then == frozenset() and self.first == frozenset() and self.met_at is not None

    @property
    def stayed(self) -> bool:
        """The same members as at the time of writing, in each round, and at least one."""
        return bool(self.then) and self.steady and self.now is not None
