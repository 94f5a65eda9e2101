"""Store times of a broker whose clock is proven to be wrong make no time lag exact: those that were kept go too."""

from collections.abc import Mapping
from datetime import datetime

from .broker_clock import BrokerClock, ClockBounds
from .reading import FirstStored, QueueKey, SampleMemory


def note_future(memory: SampleMemory, answers: Mapping[QueueKey, FirstStored], now: datetime, until: datetime) -> None:
    """A message that was stored after its answer came proves that the broker's clock is ahead."""
    for (_, _, broker, _), answer in answers.items():
        ahead = (answer.stored_at - until).total_seconds() if answer.stored_at is not None else 0
        if ahead > 0:
            memory.clocks.setdefault(broker, BrokerClock()).note(now, ClockBounds(low=ahead))


def distrust(memory: SampleMemory, allowed_seconds: float, now: datetime) -> dict[QueueKey, FirstStored]:
    """Notes whose clocks are wrong, and gives the answers of those brokers their error in the place of a time."""
    wrong = {name: clock.bounds.wrong_by(allowed_seconds) for name, clock in memory.clocks.items()}
    memory.wrong_clocks = {name: sentence for name, sentence in wrong.items() if sentence is not None}
    withdrawn = {
        key: FirstStored(answer.offset, None, memory.wrong_clocks[key[2]], now)
        for key, answer in memory.first.items()
        if key[2] in memory.wrong_clocks and answer.stored_at is not None
    }
    memory.first.update(withdrawn)
    return withdrawn
