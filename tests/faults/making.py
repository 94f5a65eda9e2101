"""Makes one fault in a site that is well, and asks of it what is asked of every fault."""

import os
import time
from datetime import UTC, datetime

import pytest

from tests.faults.fault import Fault
from tests.faults.report import Report
from tests.faults.stage import Stage
from tests.faults.watch import Watch

SHORT = os.environ.get("FAULTS") == "short"
TOLD_SECONDS = 120.0


def chosen(faults: tuple[Fault, ...]) -> list[Fault]:
    """All of them, or those of the short form."""
    return [fault for fault in faults if not SHORT or fault.short_seconds is not None]


def make(stage: Stage, report: Report, fault: Fault) -> None:
    if (why := fault.missing(stage)) is not None:
        pytest.skip(why)
    stage.begin_well()
    before, repeated, printed = stage.kept(), stage.repeated(), len(stage.site.said())
    outcome = report.begin(fault.name)
    watch = Watch(stage.site)
    began = time.monotonic()
    try:
        with fault.made(stage):
            stage.raise_pulse()
            outcome.told_seconds = _until_told(stage, fault, watch, printed)
            # It lasts for its time, told or not.
            time.sleep(max(0.0, _seconds_of(fault) - (time.monotonic() - began)))
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
        report.write()
    try:
        outcome.complaints += [*before.lost_in(stage.kept()), *stage.wrongly_told(), *fault.wrong(stage)]
    except AssertionError as error:
        outcome.complaints.append(str(error))
    report.write()
    assert not outcome.complaints, outcome.complaints


def _seconds_of(fault: Fault) -> float:
    return fault.seconds if not SHORT or fault.short_seconds is None else fault.short_seconds


def _until_told(stage: Stage, fault: Fault, watch: Watch, printed: int) -> float | None:
    """Seconds; null where there is nothing to be told."""

    def is_told() -> bool:
        words = stage.site.said()[printed:]
        return any(told(found, words) for found in watch.looks for told in fault.told)

    return stage.wait_for(f"{fault} is told", is_told, TOLD_SECONDS) if fault.told else None
