"""What a fault is, and the places where it may be told."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.faults.stage import Stage
from tests.faults.story import VICTIM
from tests.faults.watch import Look

# There while the block lasts.
Made = Callable[[Stage], AbstractContextManager[None]]
# Of a look and what the launch has printed since the fault was made: whether it is told there.
Told = Callable[[Look, str], bool]


@dataclass(frozen=True)
class Fault:
    """`told`: any one of them is enough; none where there is nothing wrong to be told. `seconds`: for how long it is
    left there, `short_seconds` in the short form, null where it has no part in that. `missing`: why this machine cannot
    make it. `wrong`: what is asked of this fault beside what is asked of all."""

    name: str
    made: Made
    told: tuple[Told, ...]
    seconds: float = 0.0
    short_seconds: float | None = None
    missing: Callable[[Stage], str | None] = lambda _: None
    wrong: Callable[[Stage], list[str]] = lambda _: []

    def __str__(self) -> str:
        return self.name


def launch(words: str) -> Told:
    return lambda _, printed: words in printed


def unready(part: str) -> Told:
    """By /readyz. A part that could not be asked is not well either."""
    return lambda found, _: found.ready is not None and not found.ready["parts"].get(part, {"well": True})["well"]


def history_is_missing(found: Look, _: str) -> bool:
    """Files that were put aside are told, and take nothing away."""
    return found.ready is not None and "could not be read" in found.ready["parts"]["history"]["detail"]


def silent(found: Look, _: str) -> bool:
    """Nobody answers: what is not there says nothing wrong."""
    return found.silence is not None


def broker_unread(found: Look, _: str) -> bool:
    """The cluster is not fresh, and the broker's row has the reason."""
    for cluster in found.clusters or []:
        rows = [broker for broker in cluster["brokers"] if broker["name"] == VICTIM]
        if cluster["freshness"] != "fresh" and any(not row["reachable"] and row["error"] for row in rows):
            return True
    return False


def cluster_late(found: Look, _: str) -> bool:
    return any(cluster["freshness"] != "fresh" and cluster["freshness_detail"] for cluster in found.clusters or [])


def clock_told(found: Look, _: str) -> bool:
    """A clock that was set takes nothing away, either."""
    return found.ready is not None and "was set: nothing is deleted" in found.ready["parts"]["clock"]["detail"]
