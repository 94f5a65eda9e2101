from collections.abc import Iterator

import pytest
import time_machine
from django.test import Client

from consumers.models import Cluster
from tests.dashboard.metrics.whole import Scrape
from tests.exposition_parser import parsed
from tests.rebalance_rows import was_watched
from tests.world import NOW, a_broker, a_cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with time_machine.travel(NOW, tick=False):
        cluster = a_cluster()
        a_broker(cluster, file_reserved_hours=72)
        was_watched(cluster, 86400)
        yield cluster


@pytest.fixture
def scrape(api: Client, cluster: Cluster) -> Scrape:
    return lambda: parsed(b"".join(api.get("/metrics").streaming_content).decode())  # type: ignore[attr-defined]
