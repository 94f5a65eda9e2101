"""Which live tests run beside each other."""

import pytest

FILE = """
import pytest

@pytest.fixture(scope="session")
def rocketmq(): ...

@pytest.fixture(scope="session")
def _rocketmq_pair(): ...

@pytest.fixture
def admin(rocketmq): ...

@pytest.mark.live
def test_asks_one(rocketmq): ...

@pytest.mark.live
def test_asks_one_through_another_fixture(admin): ...

@pytest.mark.live
def test_asks_both(_rocketmq_pair, rocketmq): ...

@pytest.mark.live
def test_asks_two_brokers(_rocketmq_pair): ...

@pytest.mark.live
def test_starts_its_own(): ...

def test_asks_none(): ...
"""
RUN = ["-p", "tests.plugins.clusters", "-p", "no:django", "-p", "no:cacheprovider", "-q"]


class Groups:
    """Notes the group of each test."""

    def __init__(self) -> None:
        self.found: dict[str, str | None] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            mark = item.get_closest_marker("xdist_group")
            self.found[item.name] = mark.args[0] if mark else None


def test_those_of_one_cluster_follow_each_other_and_others_run_beside_them(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    live: a cluster\n")
    pytester.makepyfile(test_a=FILE)
    groups = Groups()
    result = pytester.inline_run(*RUN, "--collect-only", plugins=[groups])
    assert result.ret == pytest.ExitCode.OK
    assert groups.found == {
        "test_asks_one": "rocketmq",
        "test_asks_one_through_another_fixture": "rocketmq",
        "test_asks_both": "rocketmq",
        "test_asks_two_brokers": "_rocketmq_pair",
        "test_starts_its_own": "test_a",
        "test_asks_none": None,
    }
