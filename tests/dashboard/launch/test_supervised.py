import os
import sys
import time
from pathlib import Path

import pytest

from dashboard.launch.supervisor import STEADY_SECONDS, Program, Supervised


class Stage:
    """A supervised program that ends at once, and a clock that is moved by hand."""

    def __init__(self, folder: Path, code: str) -> None:
        self.said: list[str] = []
        program = Program("web", (sys.executable, "-c", code), dict(os.environ))
        self.supervised = Supervised(program, folder, self.said.append)

    def live_and_die(self, at: float, until: float) -> None:
        self.supervised.tick(at)
        child = self.supervised.child
        assert child is not None
        while child.exit_code() is None:
            time.sleep(0.01)
        self.supervised.tick(until)


def test_it_starts_again_what_has_died_after_a_pause(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "raise SystemExit(3)")
    stage.live_and_die(at=100, until=101)
    stage.supervised.tick(101.9)
    assert stage.supervised.child is None
    stage.live_and_die(at=102, until=103)
    assert stage.said[0] == f"web ended with 3: starting it again in 1 s (its log: {tmp_path / 'web.log'})"


def test_it_waits_longer_after_each_failure_but_never_longer_than_a_minute(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "raise SystemExit(3)")
    for attempt in range(8):
        stage.live_and_die(at=attempt * 1000, until=attempt * 1000 + 1)
    pauses = [line.split(" in ")[1].split(" s ")[0] for line in stage.said if "starting it again" in line]
    assert pauses == ["1", "2", "4", "8", "16", "32", "60", "60"]


def test_it_counts_anew_after_a_program_ran_for_long(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "raise SystemExit(3)")
    stage.live_and_die(at=0, until=1)
    stage.live_and_die(at=1000, until=1000 + STEADY_SECONDS)
    assert stage.supervised.failures == 1


def test_it_shows_the_end_of_the_log_at_the_third_failure_only(tmp_path: Path) -> None:
    stage = Stage(tmp_path, "print('no database'); raise SystemExit(3)")
    shown = []
    for attempt in range(4):
        stage.said.clear()
        stage.live_and_die(at=attempt * 1000, until=attempt * 1000 + 1)
        shown.append([line for line in stage.said if "|" in line])
    assert shown == [[], [], ["  web | no database"] * 3, []]


@pytest.mark.parametrize(
    ("code", "told"),
    [("raise SystemExit(0)", "web ended with 0"), ("import os; os.kill(os.getpid(), 9)", "web was killed by signal 9")],
)
def test_it_tells_how_a_program_ended(tmp_path: Path, code: str, told: str) -> None:
    stage = Stage(tmp_path, code)
    stage.live_and_die(at=0, until=1)
    assert stage.said[0].startswith(told)
