"""The search page: hits of every kind, and the page of a single one."""

import pytest
from django.test import Client

from tests.world import a_broker, a_client, a_cluster, a_group, a_queue, a_snapshot

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock", "site")]


@pytest.fixture
def site() -> None:
    cluster = a_cluster()
    a_broker(cluster)
    billing, mail = a_group(cluster, "billing"), a_group(cluster, "mail")
    queue = a_queue(cluster, topic="Bills")
    a_snapshot(billing, queue, 1, 2)
    a_snapshot(mail, queue, 1, 2)
    a_client(mail, "10.0.0.7@3312")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("billing", "/groups/prod/billing/"),
        ("3312", "/clients/prod/10.0.0.7@3312/"),
        ("broker-a", "/clusters/?cluster=prod"),
        ("Bills", "/topics/prod/Bills/"),
    ],
)
def test_a_single_hit_is_opened(admin_client: Client, text: str, address: str) -> None:
    answer = admin_client.get("/search/", {"search": text})
    assert (answer.status_code, answer.headers["Location"]) == (302, address)


def test_the_range_goes_along(admin_client: Client) -> None:
    answer = admin_client.get("/search/", {"search": "billing", "range": "6h"})
    assert answer.headers["Location"] == "/groups/prod/billing/?range=6h"


def test_several_hits_are_listed_by_kind_and_a_topic_leads_to_its_groups(admin_client: Client) -> None:
    page = admin_client.get("/search/", {"search": "bill"}).text
    assert 'id="found-group"' in page
    assert '<a href="/topics/prod/Bills/">Bills</a>' in page
    assert '<a href="/groups/prod/mail/?topic=Bills">mail</a>' in page
    assert 'id="found-client"' not in page


def test_nothing_found_says_what_was_sought(admin_client: Client) -> None:
    page = admin_client.get("/search/", {"search": "nobody"}).text
    assert "No group, topic, member or broker has this in its name." in page


def test_names_are_suggested_from_the_second_letter_on(admin_client: Client) -> None:
    assert "<option" not in admin_client.get("/search/suggestions/", {"search": "b"}).text
    assert (
        '<option value="billing">Groups · prod</option>'
        in admin_client.get("/search/suggestions/", {"search": "bi"}).text
    )
