"""Ten thousand groups for a day, without a broker: what a site does then ends, and how long it takes is told."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.report import Report
from tests.plugins.calling import PROJECT

pytestmark = [
    # It starts neither, and is in no tier of theirs.
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.faults,
    pytest.mark.timeout(7200),
]
GROUPS = 10_000
MINUTES = int(os.environ.get("FAULTS_MINUTES", "1440"))
# Pages and scrapes; whoever asks waits no longer. Of processor time: another may have the machine.
ASKED_SECONDS = 20.0


def test_a_day_of_ten_thousand_groups_can_be_asked_for_forgotten_and_removed(report: Report, tmp_path: Path) -> None:
    child = Path(__file__).with_name("many_groups_child.py")
    own = {"CONSUMERSCOPE_HOME": str(tmp_path), "PYTHONPATH": str(PROJECT), "DATABASE_URL": ""}
    done = subprocess.run(
        [sys.executable, str(child), str(GROUPS), str(MINUTES)],
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    report.measured["a day of ten thousand groups"] = told
    report.write()
    assert told["groups"] == GROUPS
    assert told["rows"] >= GROUPS * (MINUTES - 10)
    assert told["forgotten"] > 0
    assert told["left"] == 0
    slow = {name: taken for name, taken in told["seconds"].items() if name.startswith("/") and taken[0] > ASKED_SECONDS}
    assert not slow
