"""A polled site over two real brokers, and runs of the pipeline over what was read."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from consumers.jobs.hold import close_wires
from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.pipeline.durations import Durations
from consumers.pipeline.job import run
from consumers.polling.file_poller import FileLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from dashboard.demo.cluster import RocketMQ
from tests.consumers.resetting.live_site import Site
from tests.plugins.java_admin import JavaAdmin

POLL_SECONDS = 1.5


@contextmanager
def polled_site(
    rocketmq: RocketMQ, admin: JavaAdmin, api: Client, lake: Path, brokers: Sequence[str], **more: str
) -> Iterator[Site]:
    """`brokers`: whose offsets RocketMQ's own client is asked for. `more`: fields of the cluster."""
    cluster = Cluster.objects.create(name="repeats", namesrv=rocketmq.namesrv, created_at=timezone.now(), **more)
    files = FileLimits(folders=("/",), seconds=0)
    asked_always = PollSettings(Cadence(0, 0), Budget(1000, 1000), 5.0, Lake.at(str(lake)), 0, files=files)
    poller = ClusterPoller(cluster, asked_always)
    yield Site(api, poller, admin, list(brokers))
    poller.close()
    close_wires()


@pytest.fixture
def site(
    rocketmq_pair: RocketMQ, java_admin_pair: JavaAdmin, api: Client, api_user: User, tmp_path: Path, settings: Any
) -> Iterator[Site]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    settings.RESET_SETTLED_SECONDS, settings.RESET_READ_BACK_SECONDS = 2, 40
    api_user.user_permissions.add(Permission.objects.get(codename="reset_offsets"))
    with polled_site(rocketmq_pair, java_admin_pair, api, tmp_path / "lake", ["broker-a", "broker-b"]) as site:
        yield site


@pytest.fixture
def evaluated(spark: Any, settings: Any) -> Callable[[str, str], None]:
    """One run of the pipeline over all readings from the one to the other."""

    def evaluated(first: str, last: str) -> None:
        since, until = parse_datetime(first), parse_datetime(last)
        assert since is not None
        assert until is not None
        lake, durations = Lake.at(settings.CONSUMERSCOPE_LAKE), Durations.of(settings.JUDGE, POLL_SECONDS)
        run(spark, lake, ["repeats"], since, until + timedelta(seconds=1), durations)

    return evaluated
