"""One site, one fault after the other: told while it lasts, healed without a hand, nothing lost, nothing said that is

not so. FAULTS=short leaves most of them out.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from tests.faults.declared import FAULTS
from tests.faults.fault import Fault
from tests.faults.making import chosen, make
from tests.faults.report import Report
from tests.faults.stage import Stage, set_up

pytestmark = [pytest.mark.live, pytest.mark.spark, pytest.mark.faults, pytest.mark.timeout(2700)]


@pytest.fixture(scope="module")
def stage(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("faults")
    with (
        RocketMQ(folder / "rocketmq", rocketmq_jars, brokers=2) as cluster,
        set_up(folder, cluster, rocketmq_jars, {}) as stage,
    ):
        yield stage


@pytest.mark.parametrize("fault", chosen(FAULTS), ids=str)
def test_a_fault_is_told_heals_by_itself_and_loses_nothing(stage: Stage, report: Report, fault: Fault) -> None:
    make(stage, report, fault)
