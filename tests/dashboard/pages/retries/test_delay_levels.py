"""The clusters page: what waits on each broker's delay levels, and what of it is late."""

import re

import pytest
from django.test import Client

from consumers.models import DelayLevel
from tests.delay_rows import a_delaying_broker, a_level, levels
from tests.world import a_broker, a_cluster, ago

pytestmark = pytest.mark.django_db


def said(client: Client) -> str:
    page = client.get("/clusters/").text.split("Delay levels of prod</h3>")[1].split("</table>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_each_level_of_a_broker_stands_with_its_delay_and_what_waits(admin_client: Client) -> None:
    cluster = a_cluster()
    a_delaying_broker(cluster)
    levels(cluster, level3=1204, level4=7)
    text = said(admin_client)
    assert "Level 1 1 s Level 2 5 s Level 3 10 s Level 4 30 s" in text
    assert text.endswith("broker-a 1,211 5 s ago 0 0 1,204 7 ")


def test_a_level_that_is_late_is_said_so_with_what_to_do(admin_client: Client) -> None:
    cluster = a_cluster()
    a_delaying_broker(cluster)
    levels(cluster, level3=4)
    DelayLevel.objects.filter(level=3).update(next_due_at=ago(66))
    text = said(admin_client)
    assert "broker-a delivers delayed messages late: the first of level 3 was due 1 min before" in text
    assert "Log line: ScheduleMessageService, executeOnTimeUp exception" in text
    assert "0 0 4 1 min late 0" in text


def test_what_was_not_read_is_unknown_and_no_zero(admin_client: Client) -> None:
    a_delaying_broker(a_cluster(), delays_error="no permission")
    assert said(admin_client).endswith("broker-a unknown broker-a did not report its delay levels: no permission ")


def test_one_level_that_is_not_known_leaves_the_others(admin_client: Client) -> None:
    cluster = a_cluster()
    a_delaying_broker(cluster)
    levels(cluster, level3=4)
    DelayLevel.objects.filter(level=4).delete()
    why = "unknown : the broker gave no offsets of this level"
    assert said(admin_client).endswith(f"broker-a {why} 5 s ago 0 0 4 {why} ")


def test_brokers_that_differ_in_their_levels_keep_their_columns(admin_client: Client) -> None:
    cluster = a_cluster()
    a_delaying_broker(cluster)
    a_delaying_broker(cluster, "broker-b", delay_levels="2s")
    levels(cluster)
    a_level(cluster, 1, 3, broker="broker-b")
    text = said(admin_client)
    assert "Level 1 1 s / 2 s" in text
    assert text.endswith("broker-b 3 5 s ago 3 no such level no such level no such level ")


def test_a_cluster_whose_brokers_said_nothing_yet_says_so(admin_client: Client) -> None:
    a_broker(a_cluster())
    assert said(admin_client).endswith("broker-a unknown the delay levels of broker-a have not been read yet ")


def test_more_brokers_cost_no_more_queries(admin_client: Client, django_assert_max_num_queries) -> None:
    cluster = a_cluster()
    admin_client.get("/clusters/")
    for number in range(6):
        a_delaying_broker(cluster, f"broker-{number}")
        levels(cluster, broker=f"broker-{number}", level3=number)
    with django_assert_max_num_queries(26):
        admin_client.get("/clusters/")
