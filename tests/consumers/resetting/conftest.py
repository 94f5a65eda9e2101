from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from consumers.jobs.hold import close_wires
from consumers.lake.store import Lake
from consumers.models import Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from dashboard.demo.cluster import RocketMQ
from tests.consumers.resetting.live_site import BROKERS, Site
from tests.plugins.java_admin import JavaAdmin


@pytest.fixture
def site(
    rocketmq_pair: RocketMQ, java_admin_pair: JavaAdmin, api: Client, api_user: User, tmp_path: Path, settings: Any
) -> Iterator[Site]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    # The members here commit every second, and offline groups not at all.
    settings.RESET_SETTLED_SECONDS, settings.RESET_READ_BACK_SECONDS = 2, 40
    api_user.user_permissions.add(Permission.objects.get(codename="reset_offsets"))
    row = Cluster.objects.create(name="resetting", namesrv=rocketmq_pair.namesrv, created_at=timezone.now())
    asked_always = PollSettings(Cadence(0, 0), Budget(1000, 1000), 5.0, Lake.at(settings.CONSUMERSCOPE_LAKE), 0)
    poller = ClusterPoller(row, asked_always)
    yield Site(api, poller, java_admin_pair, BROKERS)
    poller.close()
    close_wires()
