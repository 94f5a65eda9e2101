"""One site, one fault after the other: told while it lasts, healed without a hand, nothing lost and nothing said that

is not so. FAULTS=short leaves most of them out. FAULTS_REPORT names the file that the table is written to as JSON.
"""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.faults.declared import FAULTS, Fault
from tests.faults.report import Report
from tests.faults.stage import Stage, Watch, set_up

pytestmark = [pytest.mark.live, pytest.mark.spark, pytest.mark.faults, pytest.mark.timeout(900)]

SHORT = os.environ.get("FAULTS") == "short"
CHOSEN = [fault for fault in FAULTS if not SHORT or fault.short_seconds is not None]
TOLD_SECONDS = 90.0


@pytest.fixture(scope="module")
def report() -> Iterator[Report]:
    report = Report()
    yield report
    print(report.table())
    if os.environ.get("FAULTS_REPORT"):
        report.write(Path(os.environ["FAULTS_REPORT"]))


@pytest.fixture(scope="module")
def stage(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("faults")
    with (
        RocketMQ(folder / "rocketmq", rocketmq_jars, brokers=2) as cluster,
        set_up(folder, cluster, rocketmq_jars, {}) as stage,
    ):
        yield stage


def seconds_of(fault: Fault) -> float:
    return fault.seconds if not SHORT or fault.short_seconds is None else fault.short_seconds


def until_told(stage: Stage, fault: Fault, watch: Watch, printed: int) -> float | None:
    """Seconds; null where it was healed before it was told, which it may be."""

    def is_told() -> bool:
        words = stage.site.said()[printed:]
        return any(told(found, words) for found in watch.looks for told in fault.told)

    if not fault.told:
        return None
    return stage.wait_for(f"{fault} is told", is_told, TOLD_SECONDS)


@pytest.mark.parametrize("fault", CHOSEN, ids=str)
def test_a_fault_is_told_heals_by_itself_and_loses_nothing(stage: Stage, report: Report, fault: Fault) -> None:
    stage.wait_until_well(datetime.now(UTC))
    before, repeated, printed = stage.kept(), stage.repeated(), len(stage.site.said())
    outcome = report.begin(fault.name)
    watch = Watch(stage.site)
    began = time.monotonic()
    try:
        fault.inject(stage)
        try:
            stage.raise_pulse()
            outcome.told_seconds = until_told(stage, fault, watch, printed)
            time.sleep(max(0.0, seconds_of(fault) - (time.monotonic() - began)))
        finally:
            fault.undo(stage)
        outcome.lasted_seconds = time.monotonic() - began
        outcome.healed_seconds = stage.wait_until_well(datetime.now(UTC))
        stage.wait_for("the pulse fires", lambda: stage.pulse_was_told("firing"))
        stage.story.lower_pulse()
        stage.wait_for("the pulse is over", lambda: stage.pulse_was_told("resolved"))
    except AssertionError as error:
        outcome.complaints.append(str(error))
        raise
    finally:
        watch.end()
        outcome.repeated = stage.repeated() - repeated
        outcome.complaints += [f"{lie} (after {after:.0f} s)" for lie, after in watch.lies.items()]
    outcome.complaints += [*before.lost_in(stage.kept()), *stage.wrongly_told()]
    assert not outcome.complaints
