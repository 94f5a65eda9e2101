"""A real Prometheus scrapes /metrics and evaluates rules: those of the project, and rocketmq-exporter's examples."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
import yaml
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from consumers.lake.store import Lake
from consumers.models import PipelineRun
from tests.dashboard.metrics.shipped import RULES, dashboard_expressions
from tests.dashboard.metrics.watched import a_watched_world
from tests.plugins.api import TOKEN
from tests.prometheus import Prometheus, installed, running_prometheus
from tests.world import NOW, ago

STOPPED, SHARED = ({"cluster": "prod", "group": group} for group in ("stopped", "shared"))
# By rule: what it must fire for, and for nothing else.
FIRES: dict[str, list[dict[str, str]]] = {
    "ConsumerGroupBehind": [STOPPED],
    "ConsumerGroupStopped": [STOPPED | {"state": "STALL"}],
    "ConsumerGroupLosesMessages": [STOPPED],
    "ConsumerGroupWithoutMembers": [STOPPED],
    "ConsumerGroupRetries": [STOPPED],
    "ConsumerGroupDeadLetters": [STOPPED],
    "ConsumerGroupFlapping": [STOPPED],
    "ConsumerGroupUnsettled": [SHARED],
    "ConsumerGroupExpiresSoon": [STOPPED],
    "ConsumerGroupQueuesOwnedTwice": [SHARED],
    "ConsumerGroupQueuesWithoutOwner": [SHARED],
    "ConsumerGroupMessageHeld": [SHARED],
    "ConsumerGroupUnknown": [{"cluster": "prod", "group": "lost", "reason": "broker_unreachable"}],
    "BrokerNotRead": [{"cluster": "prod", "broker": "broker-b"}],
    "ReadingsLate": [{"cluster": "forgotten"}],
    "ConsumerGroupOffsetsLost": [],
    "NameServersSilent": [],
    "JudgementLate": [],
    "SeriesLeftOut": [{"family": "consumerscope_queue_lag_messages"}],
}
# As the exporter's example.rules have them.
FALLING_BEHIND = (
    "(sum(rocketmq_producer_offset) by (topic) - on(topic) group_right sum(rocketmq_consumer_offset) by (group,topic))"
    " - ignoring(group) group_left sum(avg_over_time(rocketmq_producer_tps[5m])) by (topic)*5*60 > 0"
)
LATENCY = "rocketmq_group_get_latency_by_storetime > 1000"
OF_STOPPED = {"cluster": "DefaultCluster", "broker": "broker-a", "topic": "Orders", "group": "stopped"}


@pytest.fixture
def prometheus(live_server: LiveServer, api: Client, settings: Any, tmp_path: Path) -> Iterator[Prometheus]:
    settings.CONSUMERSCOPE_LAKE, settings.METRICS_QUEUE_SERIES = str(tmp_path / "lake"), 1
    target = live_server.url.removeprefix("http://")
    with time_machine.travel(NOW, tick=False):
        a_watched_world(Lake.at(str(tmp_path / "lake")))
    # Prometheus' own times are of now; what it scrapes has none.
    with time_machine.travel(NOW):
        scrapes = [_job("consumerscope", target), _job("prod", target, params={"cluster": ["prod"]})]
        with running_prometheus(tmp_path / "prometheus", scrapes, [RULES]) as found:
            found.wait(lambda: [value for _, value in found.query("up")] == [1, 1])
            yield found


def _job(name: str, target: str, **more: Any) -> dict[str, Any]:
    authorization = {"type": "Token", "credentials": TOKEN}
    return {"job_name": name, "authorization": authorization, "static_configs": [{"targets": [target]}], **more}


def fired(prometheus: Prometheus, expression: str) -> list[dict[str, str]]:
    found = [{name: value for name, value in labels.items() if name not in ("__name__", "job", "instance")}
             for labels, _ in prometheus.query(expression)]  # fmt: skip
    return sorted(found, key=lambda labels: sorted(labels.items()))


@pytest.mark.django_db(transaction=True)
def test_rules_fire_for_what_they_are_about_and_for_nothing_else(prometheus: Prometheus) -> None:
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    assert {rule["alert"]: fired(prometheus, rule["expr"]) for rule in rules} == FIRES
    assert fired(prometheus, FALLING_BEHIND) == [{"group": "stopped", "topic": "Orders"}]
    assert fired(prometheus, LATENCY) == [OF_STOPPED]
    for expression in dashboard_expressions():
        prometheus.query(expression)
    PipelineRun.objects.update(until=ago(900))
    late = next(rule["expr"] for rule in rules if rule["alert"] == "JudgementLate")
    prometheus.wait(lambda: fired(prometheus, late) == [{}])


@pytest.mark.django_db
def test_promtool_complains_of_no_name_but_the_exporter_s(api: Client, settings: Any, tmp_path: Path) -> None:
    settings.CONSUMERSCOPE_LAKE, settings.METRICS_QUEUE_SERIES = str(tmp_path), 9
    with time_machine.travel(NOW, tick=False):
        a_watched_world(Lake.at(str(tmp_path)))
        for path in ("/metrics", "/metrics?cluster=prod"):
            text = b"".join(api.get(path).streaming_content)  # type: ignore[attr-defined]
            command = [installed("promtool"), "check", "metrics"]
            done = subprocess.run(command, input=text, capture_output=True, check=False)
            complaints = done.stderr.decode().splitlines()
            assert [line for line in complaints if not line.startswith("rocketmq_")] == []


def test_promtool_finds_the_rules_in_order() -> None:
    done = subprocess.run([installed("promtool"), "check", "rules", str(RULES)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
