"""What was told against what was done: each change has its one event, and nothing else is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from consumers.models import Rebalance
from tests.consumers.fleet.live_fleet import Made


@dataclass
class Score:
    """Events or findings: `expected` by name, of which `met` were told once; `invented` were told and not done."""

    expected: int = 0
    told: int = 0
    met: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.met / self.told if self.told else 1.0

    @property
    def recall(self) -> float:
        return self.met / self.expected if self.expected else 1.0

    def line(self, what: str) -> str:
        return (
            f"{what}: {self.expected} expected, {self.told} told, {self.met} met: "
            f"precision {self.precision:.3f}, recall {self.recall:.3f}"
        )


def score_events(made: Sequence[Made], events: Sequence[Rebalance]) -> Score:
    """An event meets a change of its group that was made before the event was first seen and after the one before."""
    score = Score(expected=len(made), told=len(events))
    for group in sorted({one.group for one in made} | {event.group.name for event in events}):
        changes = [one for one in made if one.group == group]
        told = sorted((e for e in events if e.group.name == group), key=lambda event: event.started_before)
        ends = [*(one.at for one in changes[1:]), None][: len(changes)]
        for change, end in zip(changes, ends, strict=True):
            own = [e for e in told if change.at <= e.started_before and (end is None or e.started_before < end)]
            if len(own) == 1 and set(own[0].cause.split(", ")) <= change.change.causes:
                score.met += 1
            else:
                score.wrong.append(f"{group}: {change.change.name} at {change.at:%H:%M:%S}: {list(map(said, own))}")
        if len(told) > len(changes):
            score.wrong.append(f"{group}: {len(changes)} changes, told: {list(map(said, told))}")
    return score


def score_findings(expected: dict[str, set[str]], told: dict[str, set[str]]) -> Score:
    """By group, the kinds that must stand at the end and no others."""
    score = Score()
    for group in sorted(expected.keys() | told.keys()):
        wanted, found = expected.get(group, set()), told.get(group, set())
        score.expected += len(wanted)
        score.told += len(found)
        score.met += len(wanted & found)
        if wanted != found:
            score.wrong.append(f"{group}: {sorted(wanted)} expected, {sorted(found)} told")
    return score


def said(event: Rebalance) -> str:
    settled = f"{event.settled_at:%H:%M:%S}" if event.settled_at else "not settled"
    return (
        f"{event.cause} {event.started_before:%H:%M:%S} to {settled}, {event.members_before} to {event.members_after}"
    )
