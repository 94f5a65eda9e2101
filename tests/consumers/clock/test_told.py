"""That nothing is deleted by age stands in the log of a worker, and does not fill it."""

import time
from collections.abc import Iterator

import pytest

from consumers.clock import tasks
from consumers.clock.tasks import SAID_EVERY_SECONDS, may_expire

pytestmark = pytest.mark.django_db


@pytest.fixture
def steady(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """What time there is, in its only entry."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    tasks._said_at.clear()
    yield now
    tasks._said_at.clear()


def test_it_is_said_at_once_and_then_every_hour(steady: list[float], caplog: pytest.LogCaptureFixture) -> None:
    said = []
    for seconds in (0.0, 15.0, SAID_EVERY_SECONDS - 1, SAID_EVERY_SECONDS, SAID_EVERY_SECONDS + 15):
        steady[0] = 1000.0 + seconds
        assert not may_expire()
        said.append(len(caplog.messages))
    assert said == [1, 1, 1, 2, 2]
    assert "nothing is deleted by age" in caplog.messages[0]
