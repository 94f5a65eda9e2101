"""What the live tests do on a machine without Java."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.demo.actors.actor import PROJECT


@pytest.mark.parametrize(
    ("ci", "outcome"),
    [("", "SKIPPED [1]"), ("true", "ERROR tests/dashboard/demo/test_cluster.py")],
    ids=["skipped with the reason", "an error where CI is set"],
)
def test_a_live_test_without_java_is(ci: str, outcome: str, tmp_path: Path) -> None:
    test = "tests/dashboard/demo/test_cluster.py::test_mqadmin_fails_with_rocketmqs_own_complaint"
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", test, "-p", "no:cacheprovider"],
        cwd=PROJECT,
        env={**os.environ, "JAVA_HOME": str(tmp_path), "CI": ci},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    summary = ended.stdout.partition("short test summary info")[2]
    assert outcome in summary
    assert "correct or unset JAVA_HOME." in ended.stdout
