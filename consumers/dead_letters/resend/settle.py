"""Finds out what became of messages that were being sent when their worker died or their answer did not come."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from consumers.errands.ports import Ports
from consumers.models import ResendItem, ResendOutcome
from consumers.polling.wire import WireClosed
from consumers.rocketmq.errors import RocketMQError

from .errand import Errand
from .search import Search, search, verdict
from .targets import Target, by_target

# A request that was on its way must have arrived or be lost before anything is concluded from its absence.
SETTLING = timedelta(seconds=30)
# A broker that does not answer is asked again for so long; then nobody knows.
PATIENCE = timedelta(seconds=150)


def settled_from(items: Sequence[ResendItem]) -> datetime:
    """From when on the queues can be believed."""
    return max(item.at for item in items if item.at is not None) + SETTLING


def settle(ports: Ports, errand: Errand, items: Sequence[ResendItem], now: datetime) -> None:
    """Sets what each became; SENDING stays where its broker did not answer and may yet. Raises WireClosed."""
    for target, there in by_target(items).items():
        looked = _look(ports, errand, target, there)
        for item in there:
            if isinstance(looked, Search):
                _conclude(item, looked, errand, now)
            elif item.at is None or now - item.at > PATIENCE:
                error = f"it may have been sent: its target could not be read ({looked})"
                item.outcome, item.error, item.at = ResendOutcome.UNKNOWN, error, now


def _look(ports: Ports, errand: Errand, target: Target, items: Sequence[ResendItem]) -> Search | RocketMQError | str:
    admin = ports.admin(target.broker)
    if admin is None:
        return f"the address of {target.broker} is not known"
    floor = min(item.floor_offset for item in items if item.floor_offset is not None)
    marks = {errand.mark(item) for item in items}
    try:
        looking = search(admin, target.topic, target.queue_id, floor, marks, ports.deadline_seconds)
        return ports.wire.run(looking)
    except WireClosed:
        # It says nothing about the broker: whoever goes on asks through another wire.
        raise
    except RocketMQError as error:
        return error


def _conclude(item: ResendItem, looked: Search, errand: Errand, now: datetime) -> None:
    found = verdict(errand.mark(item), looked, answered=item.target_offset is not None)
    item.outcome, item.error, item.target_offset = found.outcome, found.error, found.target_offset
    item.at = None if found.outcome == ResendOutcome.PLANNED else now
