"""What every page, resource and task of retries and dead letters leaves behind on a real broker: nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from consumers import urls as api_urls
from consumers.dead_letters.index import IndexLimits, index_groups
from consumers.lake.store import Lake
from consumers.models import Cluster, DeadLetter
from consumers.polling.delay_answers import DelayLimits
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from dashboard import page_urls
from dashboard.demo.cluster import RocketMQ
from tests.broker_state import counters, state, wait_until_delivered
from tests.plugins.java_admin import JavaAdmin
from tests.walk.addresses import addresses, named, resources

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

BROKER, GROUP, LETTERS = "broker-a", "looking", 40
LEFT_OUT = frozenset({"login", "logout", "theme", "times", "sign_on", "sign_on_callback"})
NAMES = {
    "cluster": "looked",
    "group": GROUP,
    "broker": BROKER,
    "queue_id": "0",
    "offset": "5",
}


@pytest.fixture
def poller(rocketmq: RocketMQ, tmp_path: Path, settings) -> Iterator[ClusterPoller]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = Cluster.objects.create(name="looked", namesrv=rocketmq.namesrv, created_at=timezone.now())
    always = PollSettings(
        Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0, delays=DelayLimits(sample_seconds=0)
    )
    poller = ClusterPoller(cluster, always)
    yield poller
    poller.close()


@pytest.fixture
def dead(java_admin: JavaAdmin) -> None:
    """A group that has consumed some, has one message in its retry topic, and dead letters."""
    java_admin.create_group(GROUP)
    for topic, count in (("Looking", 3), (f"%RETRY%{GROUP}", 1), (f"%DLQ%{GROUP}", LETTERS)):
        java_admin.create_topic(topic, 1)
        java_admin.send(topic, BROKER, 0, count)
    java_admin.set_offset(GROUP, "Looking", BROKER, 0, 1)


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin"))
    return client


def look_everywhere(client: Client) -> list[str]:
    """Opens whatever can be opened of the group; returns the addresses of what was there."""
    looked = []
    pages, api = (named(urls, NAMES) for urls in (page_urls.urlpatterns, api_urls.urlpatterns))
    paths = [*addresses(pages, leave_out=LEFT_OUT, names=NAMES), *resources(api, NAMES)]
    for path in paths:
        answer = client.get(path)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert answer.status_code in (200, 302, 405), (path, answer.status_code, body[:300])
        if answer.status_code == 200:
            looked.append(path)
    return looked


def test_looking_changes_nothing_on_the_broker(
    poller: ClusterPoller, java_admin: JavaAdmin, dead: None, client: Client, tasks_at_once: None
) -> None:
    poller.poll(timezone.now())
    wait_until_delivered(java_admin)
    before, (stored, _) = state(java_admin), counters(java_admin)
    poller.poll(timezone.now())
    index_groups(poller.cluster, None, IndexLimits.of_site(), timezone.now())
    looked = look_everywhere(client)
    assert DeadLetter.objects.filter(group__name=GROUP).count() == LETTERS
    for part in ("/retries/", "/dlq/", "/dlq/export/", f"/dlq/{BROKER}/0/5/"):
        assert any(path.endswith(f"/looked/{GROUP}{part}") for path in looked), part
    assert (state(java_admin), counters(java_admin)[0]) == (before, stored)
