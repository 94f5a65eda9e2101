"""When the readings of many clusters begin, and that no cluster is read twice at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from consumers.polling.locks import Locked
from consumers.polling.poll import alone
from consumers.polling.registration import WireClosed
from consumers.tasks import begins, poll_cluster


@pytest.mark.parametrize(
    ("clusters", "expected"), [(0, []), (1, [0]), (2, [0, 7.5]), (5, [0, 3, 6, 9, 12])], ids=lambda value: str(value)
)
def test_readings_are_spread_evenly_over_a_period_and_one_alone_begins_at_once(clusters, expected):
    assert begins(clusters, 15) == expected


def test_a_cluster_is_read_once_at_a_time_in_a_process_and_others_meanwhile() -> None:
    with ThreadPoolExecutor() as threads, alone("prod"):

        def enter(name: str) -> bool:
            with alone(name):
                return True

        with pytest.raises(Locked, match="by this process"):
            threads.submit(enter, "prod").result(5)
        assert threads.submit(enter, "test").result(5)
    with alone("prod"):
        pass


@pytest.mark.usefixtures("redis_is_down")
@pytest.mark.django_db
def test_a_reading_that_still_runs_or_is_broken_off_leaves_the_next_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    polled: list[str] = []

    class Poller:
        def __init__(self, name: str) -> None:
            self._name = name

        def poll(self, now: Any, check: Callable[[], None]) -> None:
            check()
            polled.append(self._name)
            poll_cluster(self._name)
            raise WireClosed("its connections were closed")

    monkeypatch.setattr("consumers.tasks.poller_of", Poller)
    poll_cluster("prod")
    poll_cluster("prod")
    assert polled == ["prod", "prod"]
