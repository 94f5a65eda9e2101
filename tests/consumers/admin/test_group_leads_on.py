"""From a group's admin page to its page on the site, and to the plan of a reset: offsets are moved there alone."""

import re

import pytest
from django.test import Client

from tests.consumers.admin.staff import a_staff_client
from tests.world import a_broker, a_cluster, a_group, a_queue, a_snapshot, a_total

pytestmark = pytest.mark.django_db


def tools_for(role: str) -> tuple[Client, dict[str, str]]:
    """Of a group's admin page: links by their words."""
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_snapshot(group, a_queue(cluster), 1, 2)
    a_total(group, 1)
    client = a_staff_client(role)
    page = client.get(f"/admin/consumers/consumergroup/{group.pk}/change/").content.decode()
    tools = re.search(r'<ul class="object-tools">(.*?)</ul>', page, re.DOTALL)
    assert tools is not None
    return client, {words: link for link, words in re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', tools[1])}


def test_an_operator_goes_from_a_group_to_the_plan_of_a_reset() -> None:
    client, tools = tools_for("operator")
    assert tools["Reset offsets"] == "/groups/prod/billing/resets/plan/"
    assert b"Reset" in client.get(tools["Reset offsets"]).content


def test_a_viewer_goes_to_the_group_on_the_site_and_plans_no_reset() -> None:
    client, tools = tools_for("viewer")
    assert "Reset offsets" not in tools
    assert b"billing" in client.get(tools["View on site"]).content
