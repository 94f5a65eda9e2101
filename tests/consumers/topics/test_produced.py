"""How much is produced into a topic: the sum over its queues, where each is known."""

from datetime import timedelta

from consumers.models import Queue
from consumers.queries.history import History, Point, Series
from consumers.topics.queries import produced_rates
from tests.world import NOW

MINUTE = timedelta(minutes=1)


def a_history(*rates: float | None, complete: bool = True) -> History:
    """One window of each queue of broker-a, from 0 on."""
    at = NOW - MINUTE
    points = [Point(at, 1, 1.0, 1.0, rate, 4, None, {"produce_rate": "went back"}, complete) for rate in rates]
    series = [Series("Orders", "broker-a", number, [point]) for number, point in enumerate(points)]
    return History(at, NOW, 60, series)


def queues(count: int) -> list[Queue]:
    return [Queue(broker="broker-a", queue_id=number, readable=True) for number in range(count)]


def test_the_rate_is_the_sum_of_the_queues() -> None:
    [produced] = produced_rates(a_history(1.5, 2.0), queues(2))
    assert (produced.rate, produced.at) == (3.5, NOW)


def test_a_queue_without_a_rate_leaves_the_sum_unknown() -> None:
    [produced] = produced_rates(a_history(1.5, None), queues(2))
    assert (produced.rate, produced.why) == (None, "went back")


def test_a_queue_without_a_window_leaves_the_sum_unknown() -> None:
    [produced] = produced_rates(a_history(1.5), queues(2))
    assert (produced.rate, produced.why) == (None, "no window of broker-a / 1")


def test_a_window_that_is_not_complete_has_no_time() -> None:
    [produced] = produced_rates(a_history(1.5, complete=False), queues(1))
    assert produced.at is None
