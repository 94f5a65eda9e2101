"""The demo says that it is one, what it shows, and how to leave it; an empty site leads to the first cluster."""

from typing import Any

import pytest
from django.test import Client
from django.utils.translation import override

from dashboard.demo import shop
from dashboard.launch import launcher
from dashboard.pages.site.demo import CLUSTER, STORY
from tests.world import a_cluster

pytestmark = pytest.mark.django_db


def test_its_panel_names_every_group_of_the_shop() -> None:
    groups = {member.group for member in (*shop.STEADY, shop.ROAMER, *shop.AUDIT)}
    assert {name for name, _ in STORY} == groups


def test_its_links_lead_to_the_cluster_that_the_launcher_registers() -> None:
    assert CLUSTER == launcher.DEMO


def test_it_tells_its_story_on_every_page(viewer: Client, settings: Any) -> None:
    settings.CONSUMERSCOPE_DEMO = True
    a_cluster("demo")
    page = viewer.get("/clusters/").text
    assert [name for name, sentence in STORY if str(sentence) not in page] == []
    assert 'href="/groups/demo/audit/resets/plan/"' in page


def test_it_says_how_to_leave_it(admin_client: Client, settings: Any) -> None:
    settings.CONSUMERSCOPE_DEMO = True
    page = admin_client.get("/clusters/").text
    assert "make run NAMESRV=" in page
    assert "Add your cluster" in page


def test_a_viewer_who_may_not_add_a_cluster_is_led_to_no_form(viewer: Client, settings: Any) -> None:
    settings.CONSUMERSCOPE_DEMO = True
    assert "Add your cluster" not in viewer.get("/clusters/").text


def test_a_cluster_of_ones_own_that_is_called_demo_is_no_demo(viewer: Client) -> None:
    a_cluster("demo")
    assert "This is a demo" not in viewer.get("/clusters/").text


def test_its_story_is_told_in_chinese(viewer: Client, settings: Any) -> None:
    settings.CONSUMERSCOPE_DEMO = True
    viewer.cookies["language"] = "zh-hans"
    page = viewer.get("/clusters/").text
    with override("en"):
        assert [name for name, sentence in STORY if str(sentence) in page] == []


def test_before_its_cluster_serves_pages_say_that_it_starts(viewer: Client, settings: Any) -> None:
    settings.CONSUMERSCOPE_DEMO = True
    page = viewer.get("/").text
    assert "The demo starts" in page
    assert "No cluster is registered yet" not in page


def test_an_empty_site_leads_an_administrator_to_the_form_of_a_cluster(admin_client: Client) -> None:
    page = admin_client.get("/").text
    assert '<a class="button primary" href="/admin/consumers/cluster/add/">' in page
    assert "cluster test prod" in page
