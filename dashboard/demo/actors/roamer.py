"""The story's side of the member that comes and goes: in turn it joins, leaves, joins and is killed."""

from collections.abc import Callable
from enum import Enum

from .actor import Actor

STEP_SECONDS = 40.0


class Step(Enum):
    JOIN = "join"
    LEAVE = "leave"
    KILL = "kill"


TURN = (Step.JOIN, Step.LEAVE, Step.JOIN, Step.KILL)


def step_at(number: int) -> Step:
    return TURN[number % len(TURN)]


class Roamer:
    """Takes one step each time; its process is started when it is to join and has none."""

    def __init__(self, start: Callable[[], Actor]) -> None:
        self._start = start
        self._actor: Actor | None = None
        self._taken = 0

    def take_step(self) -> None:
        step = step_at(self._taken)
        self._taken += 1
        if self._actor is None:
            self._actor = self._start()
        if step is Step.KILL:
            self._actor.kill()
            self._actor = None
        else:
            self._actor.tell(step.value)

    def kill(self) -> None:
        if self._actor is not None:
            self._actor.kill()
