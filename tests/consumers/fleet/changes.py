"""The script of the fleet: which members each group begins with, what is done to it, and what must be told of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.plugins.fleet import FleetProcess
from tests.plugins.java_admin import JavaAdmin


@dataclass(frozen=True)
class Crew:
    """Who can be told to do something. `staying` is one process with the members that nobody kills."""

    admin: JavaAdmin
    staying: FleetProcess
    killed: FleetProcess
    killed_in_order: FleetProcess
    twin: FleetProcess


@dataclass(frozen=True)
class Change:
    """`causes`: the words that the evidence may support. `members`: how many ids the group has afterwards.

    `shares_all`: afterwards every queue has one owner.
    """

    name: str
    do: Callable[[Crew], None]
    causes: frozenset[str]
    members: int
    shares_all: bool = True


@dataclass(frozen=True)
class Script:
    group: str
    queues: int
    beginning: tuple[dict[str, Any], ...]
    changes: tuple[Change, ...] = ()
    findings: frozenset[str] = frozenset()  # the kinds that stand at the end
    in_killed: tuple[dict[str, Any], ...] = field(default=())
    in_killed_in_order: tuple[dict[str, Any], ...] = field(default=())

    @property
    def topic(self) -> str:
        return topic_of(self.group)


def topic_of(group: str) -> str:
    return "".join(word.capitalize() for word in group.split("-"))


def member(group: str, number: int, **more: Any) -> dict[str, Any]:
    return {"group": group, "topic": topic_of(group), "instance": f"fleet-{number}", **more}


def members(group: str, *numbers: int, **more: Any) -> tuple[dict[str, Any], ...]:
    return tuple(member(group, number, **more) for number in numbers)


def joins(group: str, *numbers: int, total: int, shares_all: bool = True, **more: Any) -> Change:
    """They start together: within less than a second."""
    new = members(group, *numbers, **more)
    name = f"{len(numbers)} join"
    return Change(name, lambda crew: crew.staying.start(*new), frozenset({"joined"}), total, shares_all)


def leaves(group: str, *numbers: int, total: int) -> Change:
    instances = [f"fleet-{number}" for number in numbers]
    return Change(
        f"{len(numbers)} leave", lambda crew: crew.staying.stop(group, *instances), frozenset({"left", "gone"}), total
    )
