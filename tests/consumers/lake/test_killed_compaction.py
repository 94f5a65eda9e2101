"""A real process, killed at every step of a compaction, loses nothing and shows nothing twice."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from consumers.lake.reader import files, read
from consumers.lake.retention import compact
from consumers.lake.store import Lake
from tests.pipeline_rows import at, put, rows

PROJECT = Path(__file__).resolve().parents[3]
READINGS = [row for group in ("shipping", "billing") for row in rows([(n, 9) for n in range(2)], group=group)]
# Written aside, renamed, and two parts deleted.
STEPS = 4


@pytest.fixture
def lake(tmp_path):
    lake = Lake.at(str(tmp_path))
    put(lake, "readings", READINGS)
    return lake


def shown(lake):
    found = read(lake, "readings", "prod", at(0), at(60)).to_pylist()
    return sorted((row["group"], row["consumer_offset"]) for row in found)


def compact_and_die(lake, step):
    script = Path(__file__).with_name("dying.py")
    environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        [sys.executable, str(script), lake.root, str(step)], env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("step", range(STEPS))
def test_killed_before_any_step_the_hour_is_whole_and_the_next_run_finishes_it(lake, step):
    before = shown(lake)
    assert compact_and_die(lake, step).returncode == -signal.SIGKILL
    assert shown(lake) == before
    compact(lake, at(7200), timedelta(minutes=10))
    assert shown(lake) == before
    (only,) = files(lake, "readings", "prod", at(0), at(60))
    assert os.listdir(Path(only).parent) == ["hour.parquet"]


def test_there_are_no_more_steps_to_be_killed_at(lake):
    done = compact_and_die(lake, STEPS)
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr
