"""The same questions of a site whose clock leaps: forward by an hour and back, and by three days and back.

What leap.c preloads into its processes tells them the time of day. Brokers, consumers and whoever asks keep the right
one.
"""

import shutil
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.faults.fault import Fault, clock_told
from tests.faults.making import make
from tests.faults.report import Report
from tests.faults.stage import Stage, set_up

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.faults,
    pytest.mark.timeout(2700),
]
SOURCE = Path(__file__).with_name("leap.c")


def library(folder: Path) -> Path:
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("This machine has no C compiler")
    built = folder / "leap.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", built, SOURCE], check=True, timeout=240)
    return built


def _set_ahead(clock: Path, seconds: int) -> None:
    """In its place: every process has the file mapped."""
    with clock.open("r+b" if clock.exists() else "wb") as file:
        file.write(struct.pack("=q", seconds))


@pytest.fixture(scope="module")
def stage(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("clock")
    clock = folder / "clock"
    _set_ahead(clock, 0)
    asked = {"LD_PRELOAD": str(library(folder)), "LEAP_FILE": str(clock)}
    with (
        RocketMQ(folder / "rocketmq", rocketmq_jars, brokers=2) as cluster,
        set_up(folder, cluster, rocketmq_jars, asked) as stage,
    ):
        yield stage


def _leaps(stage: Stage, ahead: timedelta) -> None:
    _set_ahead(Path(stage.site.environ["LEAP_FILE"]), int(ahead.total_seconds()))
    stage.site.ahead, stage.site.leapt_at = ahead, time.monotonic()


def _ahead(name: str, ahead: timedelta) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        _leaps(stage, ahead)
        try:
            yield
        finally:
            _leaps(stage, timedelta())

    return Fault(f"the clock leaps by {name} and back", made, (clock_told,), seconds=45.0)


FAULTS = (_ahead("an hour", timedelta(hours=1)), _ahead("three days", timedelta(days=3)))


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_clock_that_leaps_loses_nothing(stage: Stage, report: Report, fault: Fault) -> None:
    make(stage, report, fault)
