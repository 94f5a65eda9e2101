"""How many messages a moved offset makes a group consume again, or never."""

from dataclasses import dataclass

from .clip import Aim


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
