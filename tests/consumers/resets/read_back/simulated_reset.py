"""A reset in a simulated group, read back as a worker does it, and what is true of it."""

import random
from dataclasses import dataclass, field
from datetime import timedelta

from consumers.models import ResetMethod, ResetOutcome
from consumers.resets.applying.case import LONGEST_GAP_SECONDS, Present, Series, Timing, Written, restored, saved
from consumers.resets.applying.outcome import SettledOutcome, outcome_of
from consumers.resets.planning.gather import Membership
from tests.consumers.resets.read_back.simulated_group import TICK, At, Group, Stored
from tests.world import NOW

# A second is four ticks.
READ_EVERY = 4
LONGEST = 60.0
# Who comes and goes between two looks is met by none of them.
SHORTEST_STAY = 2.0 + LONGEST_GAP_SECONDS


@dataclass(frozen=True)
class Scenario:
    """`acts`: (seconds after the writing, what happens): leave, crash, join, commit (by a stranger), restart, restart
    and lose, restart and lose more. `arrives`: false where the request was lost, and is therefore not answered.
    `away`: from when on nobody reads for how long, until another worker continues.

    `early`: a member came right before the writing, when nobody was seen.
    """

    method: ResetMethod
    before: int | None
    target: int
    behind: int
    online: bool = True
    early: bool = False
    old: bool = False
    deaf: bool = False
    rate: float = 100.0
    commit_every: float = 5.0
    produced: float = 0.0
    answered: bool = True
    arrives: bool = True
    stranger: int = 0
    acts: tuple[tuple[float, str], ...] = ()
    away: tuple[float, float] = (0.0, 0.0)
    seed: int = 0

    def is_away(self, now: float) -> bool:
        since, seconds = self.away
        return since <= now < since + seconds


@dataclass
class Told:
    verdict: SettledOutcome
    seconds: float
    group: Group
    target: int
    readings: list[int | None] = field(default_factory=list)

    @property
    def is_true(self) -> bool:
        stored = self.group.stored
        ours = self.group.begun or bool(stored.at and stored.at.ours)
        match self.verdict.outcome:
            case ResetOutcome.CONFIRMED:
                return ours or self.group.is_about_to_begin or self._stands_at_target
            case ResetOutcome.OVERWRITTEN:
                return stored.was_ours and not (stored.at and stored.at.ours)
            case ResetOutcome.UNCHANGED:
                return not ours
        return True

    @property
    def _stands_at_target(self) -> bool:
        """Whoever comes next begins there, whoever put it there after the broker had."""
        stored = self.group.stored
        return stored.was_ours and not self.group.members and stored.told == self.target


def told(scenario: Scenario) -> Told:
    group = _group(scenario)
    before = group.members
    if scenario.early:
        _join(scenario, group, "early")
        group.joined_at = 0.0
    at, series = NOW, Series()
    _write(scenario, group)
    stood = None if scenario.before is None else scenario.before
    written = Written(scenario.method, scenario.answered, stood, scenario.target, at)
    present = Present.at_apply(before)
    longest = LONGEST + scenario.away[1]
    timing = Timing(12.0, at + timedelta(seconds=longest), scenario.commit_every, 10.0 + scenario.commit_every)
    readings: list[int | None] = []
    for step in range(int(longest / TICK) + 2 * READ_EVERY):
        now = step * TICK
        _act(scenario, group, now)
        group.tick(now)
        if scenario.is_away(now):
            series, present = restored(saved(series), series.last_at), Present.at_apply(before)
        if step % READ_EVERY or scenario.is_away(now):
            continue
        moment = at + timedelta(seconds=now)
        silent = now < group.silent_until
        series = series.failed("it is silent") if silent else series.read(moment, group.stored.told)
        present = present.look(moment, _membership(scenario, group, silent))
        readings.append(group.stored.told)
        verdict = outcome_of(written, series, present, timing, moment)
        if verdict is not None:
            return Told(verdict, now, group, scenario.target, readings)
    raise AssertionError("it was never settled")


def _group(scenario: Scenario) -> Group:
    dice = random.Random(scenario.seed)
    before = scenario.before
    stored = Stored(None if before is None else At(float(before), False), float(scenario.behind), False)
    stored.end = float(max(before or 0, scenario.target) + scenario.behind)
    stored.marking = scenario.method == ResetMethod.SERVER
    group = Group(stored, dice, produced=scenario.produced)
    if scenario.online:
        _join(scenario, group, "m1")
        assert group.member is not None
        group.member.next_commit = dice.uniform(0.0, scenario.commit_every)
        group.member.next_pull = dice.uniform(0.0, 15.0) if group.member.memory.offset >= stored.end else 0.25
    return group


def _join(scenario: Scenario, group: Group, name: str) -> None:
    group.join(name, rate=scenario.rate, commit_every=scenario.commit_every, old=scenario.old, deaf=scenario.deaf)


def _write(scenario: Scenario, group: Group) -> None:
    if not scenario.arrives:
        return
    if scenario.method == ResetMethod.CLIENT:
        if group.member is not None:
            group.member.tell(0.0, float(scenario.target))
    else:
        group.stored.reset(float(scenario.target))


def _act(scenario: Scenario, group: Group, now: float) -> None:
    for number, (when, what) in enumerate(scenario.acts):
        if not now <= when < now + TICK:
            continue
        match what:
            case "leave" | "crash" if now - group.joined_at >= SHORTEST_STAY:
                group.leave(orderly=what == "leave")
            case "join" if group.member is None:
                _join(scenario, group, f"later-{number}")
                group.joined_at = now
            case "commit":
                group.stored.commit(At(float(scenario.stranger), False))
            case "restart":
                group.restart_broker(now, None)
            case "restart and lose" if scenario.before is not None:
                group.restart_broker(now, At(float(scenario.before), False))
            case "restart and lose more" if scenario.before is not None:
                group.restart_broker(now, At(scenario.before * 0.9, False))


def _membership(scenario: Scenario, group: Group, silent: bool) -> Membership:
    if silent:
        return Membership(None, "it is silent")
    consume_type = "CONSUME_ACTIVELY" if scenario.deaf else "CONSUME_PASSIVELY"
    return Membership(group.members, None, "CLUSTERING", consume_type, ("JAVA",) if group.members else ())
