"""The same questions of a site whose clock leaps: forward by an hour and back, and by three days and back.

Its processes ask libfaketime for the time of day. Brokers, consumers and whoever asks keep the right one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.faults.fault import Fault
from tests.faults.making import make
from tests.faults.report import Report
from tests.faults.stage import Stage, set_up

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.faults,
    pytest.mark.timeout(900),
]
NO_CLOCK = "This machine has no libfaketime"


def library() -> Path | None:
    return next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


@pytest.fixture(scope="module")
def stage(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    if (faked := library()) is None:
        pytest.skip(f"{NO_CLOCK}: install faketime")
    folder = tmp_path_factory.mktemp("clock")
    clock = folder / "clock"
    clock.write_text("+0\n")
    asked = {
        "LD_PRELOAD": str(faked),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        # What waits for a while waits for that while: only the time of day leaps.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "NO_FAKE_STAT": "1",
    }
    with (
        RocketMQ(folder / "rocketmq", rocketmq_jars, brokers=2) as cluster,
        set_up(folder, cluster, rocketmq_jars, asked) as stage,
    ):
        yield stage


def _leaps(stage: Stage, ahead: timedelta) -> None:
    clock = Path(stage.site.environ["FAKETIME_TIMESTAMP_FILE"])
    aside = clock.with_name("clock.new")
    aside.write_text(f"+{ahead.total_seconds():.0f}\n")
    aside.replace(clock)
    stage.site.ahead = ahead


def _ahead(name: str, ahead: timedelta) -> Fault:
    @contextmanager
    def made(stage: Stage) -> Iterator[None]:
        _leaps(stage, ahead)
        try:
            yield
        finally:
            _leaps(stage, timedelta())

    return Fault(f"the clock leaps by {name} and back", made, (), seconds=45.0)


FAULTS = (_ahead("an hour", timedelta(hours=1)), _ahead("three days", timedelta(days=3)))


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_clock_that_leaps_loses_nothing(stage: Stage, report: Report, fault: Fault) -> None:
    make(stage, report, fault)
