"""GET topics/{cluster}/{topic}/"""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.world import a_broker, a_cluster, a_group, a_queue, a_snapshot

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]


@pytest.fixture(autouse=True)
def _empty_lake(settings: Any, tmp_path: Path) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)


def test_a_topic_is_answered_with_its_groups_and_brokers(api: Client) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    a_snapshot(a_group(cluster), a_queue(cluster), 90, 100)
    said = api.get("/api/v1/topics/prod/Orders/").json()
    assert [(row["group"], row["lag_messages"]) for row in said["groups"]] == [("billing", 10)]
    assert [(row["broker"], row["access"]) for row in said["brokers"]] == [("broker-a", "unknown")]


def test_a_topic_that_is_not_there_is_not_found(api: Client) -> None:
    a_cluster()
    answer = api.get("/api/v1/topics/prod/Nothing/")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no topic 'Nothing' in cluster 'prod'.")
