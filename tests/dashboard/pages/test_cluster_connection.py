import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from consumers.models import Cluster
from tests.world import a_cluster

pytestmark = pytest.mark.django_db
PAGE = "/clusters/prod/connection/"


@pytest.fixture
def cluster() -> Cluster:
    return a_cluster()


@pytest.mark.usefixtures("cluster", "redis_is_down")
def test_without_redis_it_says_so_and_asks_nobody(admin_client: Client) -> None:
    answer = admin_client.post(reverse("connection_check", args=("prod",)))
    assert (answer.status_code, "Redis" in answer.text) == (503, True)


@pytest.mark.usefixtures("cluster", "redis")
def test_it_waits_for_the_answer_and_then_says_that_it_is_gone(admin_client: Client) -> None:
    asked = admin_client.post(reverse("connection_check", args=("prod",)))
    assert "hx-trigger" in admin_client.get(asked["Location"]).text.split('id="look"')[1].split(">")[0]
    assert "This test has expired" in admin_client.get(f"{PAGE}?look=other").text


@pytest.mark.usefixtures("cluster")
def test_a_viewer_is_told_the_permission(viewer: Client) -> None:
    assert (
        "You need the role admin, for the cluster prod or for all clusters (permission consumers.manage_clusters)."
        in viewer.get(PAGE).text
    )
    assert viewer.post(reverse("connection_check", args=("prod",))).status_code == 403


def test_a_cluster_that_is_not_there_is_not_found(admin_client: Client) -> None:
    assert admin_client.get("/clusters/none/connection/").status_code == 404


def test_an_empty_site_leads_to_a_new_cluster_and_its_test(admin_client: Client) -> None:
    page = admin_client.get("/").text
    assert f'href="{reverse("admin:consumers_cluster_add")}"' in page
    assert "manage.py cluster test prod" in page


def test_a_cluster_that_was_added_leads_to_its_test(admin_client: Client) -> None:
    said = {"name": "east", "namesrv": "127.0.0.1:9876", "access_key": "", "offset_files": "", "proxy": ""}
    added = admin_client.post(reverse("admin:consumers_cluster_add"), said)
    assert added["Location"] == reverse("connection", args=("east",))


def test_one_call_that_failed_is_a_call() -> None:
    view = {"result": {"failures": [1], "calls": [1], "left_out": 0}}
    assert "1 of 1 call failed" in render_to_string("clusters/connection_part.html", {"view": view})
