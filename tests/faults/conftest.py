"""One table for all faults of a run. FAULTS_REPORT names the file that it is written to as JSON."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.report import Report


@pytest.fixture(scope="session")
def report() -> Iterator[Report]:
    written = os.environ.get("FAULTS_REPORT")
    report = Report(Path(written) if written else None)
    yield report
    print(f"\n{report.table()}")
