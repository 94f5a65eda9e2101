import os
import signal
import sys
import time
from pathlib import Path

import pytest

from dashboard.launch.supervisor import LaunchFailed, Program, StopAsked, Supervisor

# Tells when it is asked to end, and ends only after the others had time to.
POLITE = """
import signal, sys, time
from pathlib import Path
def end(*_):
    with Path({order!r}).open("a") as order: order.write({name!r})
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
time.sleep(600)
"""
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"


def start(supervisor: Supervisor, name: str, code: str) -> None:
    supervised = supervisor.start(Program(name, (sys.executable, "-c", code), dict(os.environ)))
    supervisor.wait_until(
        lambda: supervised.log.exists() and "ready" in supervised.log.read_text(), seconds=10, otherwise="not ready"
    )


def test_it_ends_redis_after_everything_else(tmp_path: Path) -> None:
    order = tmp_path / "order"
    supervisor = Supervisor(tmp_path / "logs", print)
    for name in ("redis", "web"):
        start(supervisor, name, POLITE.format(order=str(order), name=f"{name} "))
    supervisor.stop()
    assert order.read_text() == "web redis "


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_stops_watching_when_it_is_asked_to_end(tmp_path: Path, number: signal.Signals) -> None:
    supervisor = Supervisor(tmp_path, print)
    with supervisor.listening():
        supervisor.watch()
        os.kill(os.getpid(), number)
        with pytest.raises(StopAsked):
            supervisor.watch()


def test_it_gives_signals_back_afterwards(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Supervisor(tmp_path, print).listening():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_it_says_what_did_not_come_about(tmp_path: Path) -> None:
    with pytest.raises(LaunchFailed, match="Redis does not answer"):
        Supervisor(tmp_path, print).wait_until(lambda: False, seconds=0, otherwise="Redis does not answer.")


def test_it_does_not_wait_for_the_deaf_when_it_is_asked_twice(tmp_path: Path) -> None:
    supervisor = Supervisor(tmp_path, print)
    start(supervisor, "web", DEAF)
    with supervisor.listening():
        signal.setitimer(signal.ITIMER_REAL, 0)
        before = signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        begun = time.monotonic()
        supervisor.stop()
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - begun < 5
