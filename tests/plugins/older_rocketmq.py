"""Clusters of older releases: one by default, TEST_ROCKETMQ_VERSIONS="4.9.7 5.3.3" names others."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.demo.cluster import RocketMQ
from dashboard.demo.java import TEMPLATE
from tests.plugins.rocketmq import jars_of

# The newest that does not give the broker offsets of many topics in one call is 5.3.1; this one can be fetched.
VERSIONS = os.environ.get("TEST_ROCKETMQ_VERSIONS", "5.1.4").split()


@pytest.fixture(scope="session", params=VERSIONS)
def older_rocketmq(
    request: pytest.FixtureRequest, rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, RocketMQ]]:
    """A version and a cluster of one broker, `broker-a`, of that version. Before 5.0 it listens on every interface."""
    version = request.param
    jars = jars_of(version)
    home = tmp_path_factory.mktemp(f"rocketmq-{version}")
    for server, folder in (("namesrv", "namesrv"), ("broker", "broker-a")):
        _write_log_settings(home / folder, server)
    with RocketMQ(home, jars) as cluster:
        yield version, cluster


def _write_log_settings(folder: Path, server: str) -> None:
    """Before 5.0 a server ends at once without this file in its home (4.9.7, NamesrvStartup, BrokerStartup)."""
    settings = folder / "conf" / f"logback_{server}.xml"
    settings.parent.mkdir(parents=True)
    settings.write_text(TEMPLATE.format(log=folder / f"{server}.log", level="info"))
