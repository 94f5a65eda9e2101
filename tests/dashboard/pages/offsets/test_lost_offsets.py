"""Pages of lost offsets: one row for each broker, each queue with its way back, and who took note."""

import re
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.models import Cluster, LossAcknowledgement, QueueSnapshot
from consumers.vocabulary.states import UnknownReason
from tests.lost_rows import a_losing_group
from tests.world import a_broker, a_cluster, ago

pytestmark = pytest.mark.django_db
URL, LOSSES = "/groups/prod/billing/", "/groups/prod/billing/lost-offsets/"


@pytest.fixture
def cluster() -> Cluster:
    cluster = a_cluster()
    a_broker(cluster)
    return cluster


@pytest.fixture
def operator() -> Client:
    user = User.objects.create_user("olga")
    user.groups.add(Group.objects.get(name="operator"))
    client = Client()
    client.force_login(user)
    return client


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", unescape(html)))


def wanted(html: str, mark: str) -> dict[str, list[str]]:
    [href] = re.findall(rf'id="{mark}" href="([^"]+)"', html)
    return parse_qs(urlsplit(unescape(href)).query)


def test_the_overview_has_one_row_for_a_broker_with_links_to_its_groups(operator: Client, cluster: Cluster) -> None:
    names = [f"group-{number}" for number in range(7)]
    for name in names:
        a_losing_group(cluster, name, queues=1)
    [section] = re.findall(r'<section id="losses">.*?</section>', operator.get("/").text, re.DOTALL)
    assert section.count("<li>") == 1
    assert "broker-a lost the offsets of 7 groups, 7 queues" in text_of(section)
    assert re.findall(r'href="/groups/prod/([\w-]+)/', section) == names[:5]
    assert "and 2 more" in text_of(section)


def test_the_overview_says_nothing_of_losses_where_there_are_none(operator: Client, cluster: Cluster) -> None:
    assert "losses" not in operator.get("/").text


def test_the_group_lists_every_lost_queue_with_its_way_back(operator: Client, cluster: Cluster) -> None:
    a_losing_group(cluster, queues=3, consume_from_where="CONSUME_FROM_LAST_OFFSET")
    html = operator.get(URL).text
    [section] = re.findall(r'<section id="lost-offsets">.*?</section>', html, re.DOTALL)
    said = text_of(section)
    assert all(f"Ofbilling / broker-a / {number} 7" in said for number in range(3))
    assert said.count("12 · last offset: the end of the queue skips 5 messages") == 3
    whole = wanted(html, "restore-lost")
    assert (whole["kind"], whole["value"]) == (["moment"], [ago(32).isoformat()])
    assert whole["queue"] == [f"Ofbilling/broker-a/{number}" for number in range(3)]
    assert section.count("kind=moment") == 4


def test_the_way_back_of_many_queues_names_their_broker(operator: Client, cluster: Cluster) -> None:
    a_losing_group(cluster, queues=41)
    whole = wanted(operator.get(URL).text, "restore-lost")
    assert (whole["broker"], whole.get("queue")) == (["broker-a"], None)


def test_the_link_fills_the_form_that_plans_the_reset(operator: Client, cluster: Cluster) -> None:
    a_losing_group(cluster)
    [href] = re.findall(r'id="restore-lost" href="([^"]+)"', operator.get(URL).text)
    form = operator.get(unescape(href)).text
    assert f'value="{ago(31).isoformat()}"' in unescape(form)
    assert re.search(r'value="moment"[^>]* checked', form)
    assert len(re.findall(r'value="Ofbilling/broker-a/\d"[^>]* checked', form)) == 2


def test_who_operates_takes_note_of_a_loss_once(operator: Client, cluster: Cluster) -> None:
    group = a_losing_group(cluster)
    assert operator.post(LOSSES).status_code == 302
    made = LossAcknowledgement.objects.get()
    assert (made.group, made.by_name, made.applied_at) == (group, "olga", None)
    assert [(queue["queue_id"], queue["lost_offset"]) for queue in made.queues] == [(0, 7), (1, 7)]
    again = operator.post(LOSSES)
    assert again.status_code == 409
    assert "The loss is already acknowledged" in text_of(again.text)
    assert "olga · 2 queues · pending until the next poll" in text_of(operator.get(LOSSES).text)


def test_nothing_lost_is_nothing_to_take_note_of(operator: Client, cluster: Cluster) -> None:
    a_losing_group(cluster)
    QueueSnapshot.objects.update(unknown_reason=UnknownReason.NEVER_COMMITTED)
    assert operator.post(LOSSES).status_code == 409
    assert "No offset of this group is lost." in text_of(operator.get(LOSSES).text)


def test_while_a_broker_is_not_scraped_it_does_not_say_that_nothing_is_lost(operator: Client, cluster: Cluster) -> None:
    a_losing_group(cluster)
    QueueSnapshot.objects.update(unknown_reason=UnknownReason.NEVER_COMMITTED)
    cluster.brokers.update(failing_since=ago(60), error="refused")
    said = text_of(operator.get(LOSSES).text)
    assert "More offsets may be lost: broker-a" in said
    assert "No offset of this group is lost." not in said


def test_a_viewer_sees_the_losses_and_changes_nothing(client: Client, cluster: Cluster) -> None:
    user = User.objects.create_user("vera")
    user.groups.add(Group.objects.get(name="viewer"))
    client.force_login(user)
    a_losing_group(cluster)
    page = client.get(URL).text
    assert "Lost offsets" in page
    assert "restore-lost" not in page
    assert client.post(LOSSES).status_code == 403
    assert not LossAcknowledgement.objects.exists()
