"""Findings in /metrics: by group, code and severity; what was not checked is a sample too."""

from typing import Any

import pytest
import time_machine
from django.test import Client

from consumers.models import Cluster
from tests.exposition_parser import parsed
from tests.health_rows import a_finding, was_checked
from tests.world import NOW, a_broker, a_cluster, a_group, a_total, ago

pytestmark = pytest.mark.django_db


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


def findings(api: Client, query: str = "") -> dict[tuple[Any, ...], float]:
    with time_machine.travel(NOW, tick=False):
        samples = parsed(b"".join(api.get(f"/metrics{query}").streaming_content).decode())  # type: ignore[attr-defined]
    names = ("cluster", "group", "code", "severity")
    return {
        tuple(dict(labels).get(name) for name in names): value
        for (family, labels), value in samples.items()
        if family == "consumerscope_finding"
    }


def test_findings_are_counted_by_group_code_and_severity(api: Client, cluster: Cluster) -> None:
    group = a_group(cluster)
    a_total(group, 0)
    was_checked(group)
    a_finding(group, "lock_lost", params={"a": 1})
    a_finding(group, "lock_lost", params={"a": 2})
    a_finding(cluster, "late_delay_levels", broker="broker-a")
    assert findings(api) == {
        ("prod", "billing", "lock_lost", "critical"): 2.0,
        ("prod", None, "late_delay_levels", "critical"): 1.0,
    }


def test_a_group_whose_checks_are_late_has_a_sample_that_says_so(api: Client, cluster: Cluster) -> None:
    a_total(a_group(cluster), 0)
    assert findings(api) == {("prod", "billing", "not_checked", "unknown"): 1.0}


def test_a_cluster_whose_checks_are_late_has_a_sample_that_says_so(api: Client, cluster: Cluster) -> None:
    a_cluster("other", checked_at=ago(4000))
    assert findings(api) == {("other", None, "not_checked", "unknown"): 1.0}


def test_of_one_cluster_only_its_findings_are_told(api: Client, cluster: Cluster) -> None:
    a_finding(a_cluster("other"), "late_delay_levels", broker="broker-b")
    assert findings(api, "?cluster=prod") == {}
