"""The page of a topic: its groups, what its brokers allow, and its charts."""

import pytest
from django.test import Client

from consumers.models import Broker, Queue
from tests.world import a_broker, a_cluster, a_group, a_queue, a_snapshot

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("site")]
PAGE = "/topics/prod/Orders/"


@pytest.fixture
def site() -> None:
    cluster = a_cluster()
    a_broker(cluster, permission=6)
    a_snapshot(a_group(cluster), a_queue(cluster), 90, 100)


def test_a_group_leads_to_its_queues_of_this_topic(admin_client: Client) -> None:
    page = admin_client.get(PAGE, {"range": "6h"}).text
    assert '<a href="/groups/prod/billing/?range=6h&amp;topic=Orders">billing</a>' in page


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        ({"readable": True, "writable": False}, "Consumers drain it; producers are sent to other brokers."),
        ({"readable": False, "writable": True}, "Messages are stored here that no group can consume."),
    ],
)
def test_what_a_permission_means_is_said(admin_client: Client, allowed: dict[str, bool], said: str) -> None:
    Queue.objects.update(**allowed)
    assert said in admin_client.get(PAGE).text


def test_a_broker_that_is_read_only_refuses_what_the_topic_allows(admin_client: Client) -> None:
    Queue.objects.update(readable=True, writable=True)
    Broker.objects.update(permission=4)
    assert "The broker itself is read-only: it refuses messages." in admin_client.get(PAGE).text


@pytest.mark.parametrize("figure", ["lag", "time-lag", "rates"])
def test_each_chart_is_drawn(admin_client: Client, figure: str) -> None:
    drawn = admin_client.get(f"/figures{PAGE}{figure}/").json()
    assert {"data", "layout"} <= set(drawn)


def test_the_queues_of_a_group_lead_to_their_topic(admin_client: Client) -> None:
    page = admin_client.get("/groups/prod/billing/", {"range": "6h"}).text
    assert '<a href="/topics/prod/Orders/?range=6h">Orders</a>' in page


def test_a_topic_that_is_not_there_is_not_found(admin_client: Client) -> None:
    answer = admin_client.get("/topics/prod/Nothing/")
    assert answer.status_code == 404
    assert "No topic “Nothing” is known on “prod”." in answer.text
