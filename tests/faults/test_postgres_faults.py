"""The same questions of a site whose database is a PostgreSQL, which may be killed and stopped too."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.faults.fault import Fault, silent, unready
from tests.faults.making import make
from tests.faults.report import Report
from tests.faults.stage import Stage, set_up
from tests.plugins.postgres import postgres_url

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.faults,
    pytest.mark.timeout(2700),
]


@pytest.fixture(scope="module")
def stage(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("postgres")
    with (
        postgres_url() as url,
        RocketMQ(folder / "rocketmq", rocketmq_jars, brokers=2) as cluster,
        set_up(folder, cluster, rocketmq_jars, {"DATABASE_URL": url}) as stage,
    ):
        stage.database_pids = lambda: _servers(url)
        yield stage


def _servers(url: str) -> list[int]:
    """The one that accepts connections, and one for each of these; the oldest first."""
    folder = url.rpartition("host=")[2]
    [postmaster] = [int(file.read_text().split()[0]) for file in Path(folder).glob("postmaster.pid")]
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    return [postmaster, *map(int, children)]


@contextmanager
def _killed(stage: Stage) -> Iterator[None]:
    """One process of it: it ends all connections and recovers, as after a crash."""
    os.kill(stage.database_pids()[-1], signal.SIGKILL)
    yield


@contextmanager
def _stopped(stage: Stage) -> Iterator[None]:
    pids = stage.database_pids()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


FAULTS = (
    Fault("kill -9 of a process of PostgreSQL", _killed, (), seconds=5.0),
    Fault("SIGSTOP of PostgreSQL", _stopped, (silent, unready("database")), seconds=60.0),
)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_of_the_database_is_told_heals_by_itself_and_loses_nothing(
    stage: Stage, report: Report, fault: Fault
) -> None:
    make(stage, report, fault)
