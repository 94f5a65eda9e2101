"""From the last look to the end, whatever brokers, workers and others do: the record never contradicts the brokers."""

import random
from collections.abc import Callable

import pytest

from consumers.jobs.hold import LEAST_STALE
from consumers.models import Reset, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.resets.applying.run import work
from tests.consumers.resets.applying.conftest import Site
from tests.consumers.resets.applying.fake_offsets import Act
from tests.fake_clock import FakeClock, Killed

TARGET, STRANGE = 300, 777
BROKERS = ("broker-a", "broker-b")


def run(reset: Reset, site: Site, clock: FakeClock, pause: Callable[[float], None]) -> None:
    """By as many workers as it takes: each but the first comes after the one before was taken for dead."""
    while Reset.objects.get(pk=reset.pk).status == ResetStatus.APPLYING:
        try:
            work(reset.pk, site.ports, clock, pause)
        except Killed:
            clock.kill_at = None
            clock.pass_by(LEAST_STALE.total_seconds() + 1)


def contradiction(row: ResetQueue, offset: int) -> str | None:
    """What the record says of a queue of a group without members, against where the broker has it in the end."""
    stood = row.now_offset
    match row.outcome or row.step:
        case ResetOutcome.CONFIRMED if offset != TARGET:
            return "confirmed, and not at its target"
        case ResetOutcome.UNCHANGED | ResetStep.FAILED | ResetStep.NOT_DONE if offset not in (stood, STRANGE):
            return "said to stand where it was, and does not"
        case ResetOutcome.OVERWRITTEN if offset == TARGET:
            return "overwritten, and at its target"
        case ResetStep.WRITING | ResetStep.WRITTEN | ResetStep.UNANSWERED | ResetStep.PLANNED:
            return "left without an end"
    return None


@pytest.mark.parametrize("seed", range(16))
def test_the_record_never_contradicts_the_brokers(site: Site, clock: FakeClock, seed: int) -> None:
    dice = random.Random(seed)
    reset = site.applying(TARGET)
    for broker in site.brokers.values():
        broker.acts = [dice.choice(list(Act)) for _ in range(2)]
    clock.kill_at = dice.choice([None, dice.randint(1, 60)])
    clock.stretch = 3
    # Before any queue is settled, for nobody looks at it later.
    comes_at = dice.choice([None, 1, 3])

    def pause(seconds: float) -> None:
        clock.pause(seconds)
        if len(clock.pauses) == comes_at:
            site.brokers[dice.choice(BROKERS)].offsets[0] = STRANGE

    run(reset, site, clock, pause)

    said = {
        (row.broker, row.queue_id): (row.outcome or row.step, contradiction(row, offset), row.evidence)
        for row in reset.queues_of_it.all()
        for offset in [site.brokers[row.broker].offsets[row.queue_id]]
    }
    assert not [place for place, (_, wrong, _) in said.items() if wrong], said
    reset.refresh_from_db()
    confirmed = all(outcome == ResetOutcome.CONFIRMED for outcome, _, _ in said.values())
    assert (reset.status == ResetStatus.APPLIED) is confirmed
