"""Follows the demo's log: tells its progress until the cluster serves, and where its name server is at each start."""

import json
from collections.abc import Callable
from pathlib import Path

from .logs import Tail

Say = Callable[[str], None]


class DemoWatch:
    def __init__(self, log: Path, *, say: Say, serves: Callable[[str], None]) -> None:
        """`serves` is given the name server's address whenever the demo has started."""
        self.is_up = False
        self._tail = Tail(log)
        self._say = say
        self._serves = serves

    def look(self) -> None:
        for line in self._tail.lines():
            namesrv = namesrv_of(line)
            if namesrv is not None:
                self._serves(namesrv)
                self.is_up = True
            elif line.strip() and not self.is_up:
                self._say(f"  {line.strip()}")


def namesrv_of(line: str) -> str | None:
    """The name server that a line of the demo announces; None for any other line."""
    if not line.startswith("{"):
        return None
    try:
        announced = json.loads(line)
    except json.JSONDecodeError:
        return None
    namesrv = announced.get("namesrv") if isinstance(announced, dict) else None
    return namesrv if isinstance(namesrv, str) else None
