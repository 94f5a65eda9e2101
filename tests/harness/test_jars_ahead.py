"""RocketMQ's jars come before the tests that want them, and for no others."""

from pathlib import Path

import pytest

from dashboard.demo.cluster import ROCKETMQ_VERSION
from tests.jars_ahead import jars_on_their_way, main
from tests.plugins.older_rocketmq import VERSIONS


def test_tiers_without_rocketmq_wait_for_no_jars() -> None:
    with jars_on_their_way(["fast", "spark", "postgres"]) as fetching:
        assert fetching is None


def test_jars_that_are_there_are_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSUMERSCOPE_JARS", str(tmp_path))
    for version in (ROCKETMQ_VERSION, *VERSIONS):
        (tmp_path / f"rocketmq-{version}").mkdir()
    assert main() == 0
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(
        f"rocketmq-{version}" for version in {ROCKETMQ_VERSION, *VERSIONS}
    )
