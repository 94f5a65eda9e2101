import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from consumers.models import Cluster, ConsumerGroup, Reset, Silence
from tests.world import a_broker, a_cluster, a_group, a_judged_group, a_queue, a_snapshot, a_total

pytestmark = pytest.mark.django_db


@pytest.fixture
def groups(redis_is_down: None) -> None:
    cluster = a_cluster()
    a_broker(cluster)
    for name, lag in (("billing", 7), ("audit", 30), ("stock", 0)):
        an_ok_group(cluster, name, lag)


def an_ok_group(cluster: Cluster, name: str, lag: int) -> ConsumerGroup:
    group = a_group(cluster, name)
    a_total(group, lag)
    a_judged_group(group)
    a_snapshot(group, a_queue(cluster, name), 100 - lag, 100)
    return group


def shown(client: Client, *names: str) -> str:
    return client.get(reverse("selected"), {"group": [f"prod/{name}" for name in names]}).text


@pytest.mark.usefixtures("groups")
def test_a_ticked_group_is_sent_to_the_page_of_selected_groups(admin_client: Client) -> None:
    page = admin_client.get("/groups/").text
    assert 'name="group" value="prod/billing"' in page
    assert f'<form id="selection" method="get" action="{reverse("selected")}"' in page


@pytest.mark.usefixtures("groups")
def test_only_the_selected_groups_are_shown_with_most_lag_first(admin_client: Client) -> None:
    page = shown(admin_client, "billing", "audit")
    assert page.index(">audit</a>") < page.index(">billing</a>")
    assert ">stock</a>" not in page


@pytest.mark.usefixtures("groups")
def test_a_group_that_is_not_there_is_named_beside_the_others(admin_client: Client) -> None:
    page = shown(admin_client, "billing", "gone")
    assert "There is no group prod/gone." in page
    assert ">billing</a>" in page


@pytest.mark.parametrize("name", ["billing", "/billing", "prod/"])
def test_what_names_no_group_is_refused_with_what_to_write(admin_client: Client, name: str) -> None:
    answer = admin_client.get(reverse("selected"), {"group": name})
    assert answer.status_code == 400
    assert "write CLUSTER/GROUP" in answer.text


def test_more_than_fifty_are_refused(admin_client: Client) -> None:
    answer = admin_client.get(reverse("selected"), {"group": [f"prod/g{n}" for n in range(51)]})
    assert (answer.status_code, "At most 50 groups" in answer.text) == (400, True)


@pytest.mark.usefixtures("groups")
def test_the_chart_has_a_line_for_each(admin_client: Client) -> None:
    figure = admin_client.get(reverse("selected_figure"), {"group": ["prod/billing", "prod/audit"]}).json()
    assert [line["name"] for line in figure["data"] if line["name"] != "unknown"] == ["audit", "billing"]


@pytest.mark.usefixtures("groups")
def test_each_selected_group_gets_its_own_silence(admin_client: Client) -> None:
    said = {"group": ["prod/billing", "prod/audit"], "length": "1h", "reason": "deploy"}
    assert admin_client.post(reverse("selected_silence"), said).status_code == 302
    made = Silence.objects.values_list("cluster", "group_pattern", "reason")
    assert sorted(made) == [("prod", "audit", "deploy"), ("prod", "billing", "deploy")]


@pytest.mark.usefixtures("groups")
def test_without_a_reason_no_group_is_silenced(admin_client: Client) -> None:
    answer = admin_client.post(reverse("selected_silence"), {"group": ["prod/billing"], "length": "1h"})
    assert (answer.status_code, Silence.objects.exists()) == (400, False)
    assert "Enter the reason for the silence." in answer.text


@pytest.mark.usefixtures("groups")
def test_each_selected_group_gets_its_own_plan(admin_client: Client) -> None:
    said = {"group": ["prod/billing", "prod/audit"], "kind": "earliest", "reason": "replay"}
    assert admin_client.post(reverse("selected_plan"), said).status_code == 302
    assert sorted(Reset.objects.values_list("group_name", "kind")) == [("audit", "earliest"), ("billing", "earliest")]


@pytest.mark.usefixtures("groups")
def test_where_one_group_is_refused_none_is_planned(admin_client: Client) -> None:
    said = {"group": ["prod/audit", "prod/billing"], "kind": "copy", "copy": "billing", "reason": "replay"}
    answer = admin_client.post(reverse("selected_plan"), said)
    assert (answer.status_code, Reset.objects.exists()) == (409, False)
    assert "billing: A group cannot be copied from itself" in answer.text


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("kind", ["offset", "offsets"])
def test_a_target_of_single_queues_is_not_offered_for_several_groups(admin_client: Client, kind: str) -> None:
    said = {"group": ["prod/audit"], "kind": kind, "offset": "4", "reason": "replay"}
    assert admin_client.post(reverse("selected_plan"), said).status_code == 400
    assert f'name="kind" value="{kind}"' not in admin_client.get(reverse("selected_plan"), {"group": "prod/audit"}).text


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("name", ["selected_silence", "selected_plan"])
def test_who_may_only_look_is_told_the_role_that_may_act(client: Client, name: str) -> None:
    client.force_login(User.objects.create_user("eve"))
    assert client.post(reverse(name), {"group": "prod/billing", "reason": "x", "kind": "earliest"}).status_code == 403
    assert 'class="plan' not in client.get(reverse(name), {"group": "prod/billing"}).text


@pytest.mark.usefixtures("groups")
@pytest.mark.parametrize("name", ["selected_silence", "selected_plan"])
@pytest.mark.parametrize(
    ("names", "why"),
    [([], "No group is selected."), (["prod/billing", "prod/gone"], "There is no group prod/gone.")],
)
def test_nothing_is_done_where_a_group_is_missing(admin_client: Client, name: str, names: list[str], why: str) -> None:
    said = {"group": names, "length": "1h", "kind": "earliest", "reason": "deploy"}
    answer = admin_client.post(reverse(name), said)
    assert (answer.status_code, why in answer.text) == (409, True)
    assert not Silence.objects.exists()
    assert not Reset.objects.exists()
