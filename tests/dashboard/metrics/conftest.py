from collections.abc import Iterator

import pytest
import time_machine
from django.test import Client

from consumers.models import Cluster, PipelineRun
from tests.dashboard.metrics.whole import Scrape
from tests.exposition_parser import parsed
from tests.world import NOW, a_broker, a_cluster, ago


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster, file_reserved_hours=72)
        PipelineRun.objects.create(since=ago(60), until=ago(25), started_at=ago(24), finished_at=ago(20))
        yield cluster


@pytest.fixture
def scrape(api: Client, cluster: Cluster) -> Scrape:
    return lambda: parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]
