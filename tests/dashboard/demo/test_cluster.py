"""A real cluster: it serves, survives what it should, and leaves nothing behind."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from dashboard.demo.cluster import MqadminFailed, RocketMQ
from tests.plugins.calling import JavaCallFailed
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live


def test_mqadmin_lists_the_broker_that_the_cluster_started(rocketmq: RocketMQ) -> None:
    listing = rocketmq.mqadmin("clusterList")
    assert f"broker-a                0     {rocketmq.brokers['broker-a'].address}" in listing


def test_mqadmin_fails_with_rocketmqs_own_complaint(rocketmq: RocketMQ) -> None:
    with pytest.raises(MqadminFailed, match="No topic route info"):
        rocketmq.mqadmin("topicRoute", "-t", "NoSuchTopic")


def test_a_topic_can_be_written_to_as_soon_as_it_is_created(java_admin: JavaAdmin) -> None:
    java_admin.create_topic("ClusterTestWritten", 2)
    assert java_admin.send("ClusterTestWritten", "broker-a", 1, 3) == [0, 1, 2]


def test_a_refusal_by_rocketmq_is_told(java_admin: JavaAdmin) -> None:
    with pytest.raises(JavaCallFailed, match="two words, contains illegal characters"):
        java_admin.create_topic("two words", 1)


def test_a_killed_broker_comes_back_on_its_port_with_its_messages(
    rocketmq_pair: RocketMQ, java_admin_pair: JavaAdmin
) -> None:
    java_admin_pair.create_topic("ClusterTestKilled", 1, broker="broker-b")
    java_admin_pair.send("ClusterTestKilled", "broker-b", 0, 5)
    address = rocketmq_pair.brokers["broker-b"].address
    rocketmq_pair.kill_broker("broker-b")
    assert rocketmq_pair.brokers["broker-b"].pid is None
    rocketmq_pair.start_broker("broker-b")
    assert rocketmq_pair.brokers["broker-b"].address == address
    assert java_admin_pair.send("ClusterTestKilled", "broker-b", 0, 1) == [5]


PARENT = """
import os, sys
from pathlib import Path
from dashboard.demo.cluster import RocketMQ
with RocketMQ(Path(sys.argv[1]), Path(sys.argv[2])):
    os.kill(os.getpid(), 9)
"""


def test_no_server_outlives_a_parent_that_is_killed(rocketmq_jars: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path), str(rocketmq_jars)]
    subprocess.run(command, stdout=subprocess.DEVNULL, timeout=480, check=False)
    left = [one for one in psutil.process_iter(["cmdline"]) if str(tmp_path) in " ".join(one.info["cmdline"] or [])]
    _, alive = psutil.wait_procs(left, timeout=120)
    assert (tmp_path / "broker-a" / "store").is_dir()
    assert alive == []
