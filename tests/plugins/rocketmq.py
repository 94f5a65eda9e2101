"""Fixtures of a real RocketMQ cluster. Without Java they skip; where CI is set, they fail."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.demo.cluster import ROCKETMQ_VERSION, JarsNotFound, RocketMQ, ensure_jars, jars_folder
from dashboard.demo.java import JavaNotFound, find_java
from tests.plugins.calling import PROJECT
from tests.plugins.java_admin import JavaAdmin


@pytest.fixture(scope="session")
def rocketmq_jars() -> Path:
    """The folder of RocketMQ's jars, fetched on the first use on this machine."""
    return jars_of(ROCKETMQ_VERSION)


def jars_of(version: str) -> Path:
    try:
        return ensure_jars(find_java(), jars_folder(PROJECT / "var"), progress=print, version=version)
    except (JavaNotFound, JarsNotFound) as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def rocketmq(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocketMQ]:
    """One broker, `broker-a`, for the whole session. Tests share it: name your topics and groups after your test."""
    with RocketMQ(tmp_path_factory.mktemp("rocketmq"), rocketmq_jars) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def java_admin(rocketmq: RocketMQ, rocketmq_jars: Path) -> Iterator[JavaAdmin]:
    """RocketMQ's own client and admin classes on `rocketmq`."""
    with JavaAdmin(rocketmq, rocketmq_jars) as admin:
        yield admin


@pytest.fixture(scope="session")
def _rocketmq_pair(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocketMQ]:
    with RocketMQ(tmp_path_factory.mktemp("rocketmq_pair"), rocketmq_jars, brokers=2) as cluster:
        yield cluster


@pytest.fixture
def rocketmq_pair(_rocketmq_pair: RocketMQ) -> Iterator[RocketMQ]:
    """Two brokers, `broker-a` and `broker-b`, for the whole session. A test may kill one: it is started again after."""
    yield _rocketmq_pair
    for name in _rocketmq_pair.brokers:
        _rocketmq_pair.start_broker(name)


@pytest.fixture(scope="session")
def java_admin_pair(_rocketmq_pair: RocketMQ, rocketmq_jars: Path) -> Iterator[JavaAdmin]:
    """RocketMQ's own client and admin classes on `rocketmq_pair`."""
    with JavaAdmin(_rocketmq_pair, rocketmq_jars) as admin:
        yield admin
