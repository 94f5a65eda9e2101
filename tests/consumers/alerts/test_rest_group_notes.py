"""Notes about groups over REST."""

from typing import Any

import pytest
from django.test import Client

from consumers.models import GroupNote
from tests.alert_rows import a_note
from tests.world import a_cluster, a_group

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST = "/api/v1/group-notes/"
JSON = "application/json"


def kept(answer: Any, code: int = 200) -> dict[str, Any]:
    assert answer.status_code == code, answer.content
    return dict(answer.json())


def test_a_note_says_whom_it_names_and_how_many(api: Client) -> None:
    cluster = a_cluster()
    for name in ("billing", "bills", "Billing", "audit"):
        a_group(cluster, name)
    a_group(cluster, "bill_system", kind="system")
    said = kept(api.get(f"{LIST}{a_note().pk}/"))
    assert (said["group_pattern"], said["groups"], said["owner"]) == ("bill*", 2, "payments")
    assert said["labels"] == {"team": "payments"}


def test_groups_of_another_cluster_are_not_counted(api: Client) -> None:
    a_group(a_cluster())
    assert kept(api.get(f"{LIST}{a_note(cluster='test').pk}/"))["groups"] == 0
    assert kept(api.get(f"{LIST}{a_note(cluster='pr*').pk}/"))["groups"] == 1


def test_every_null_says_why(api: Client) -> None:
    said = kept(api.get(f"{LIST}{a_note(owner='', note='').pk}/"))
    assert {name for name, value in said.items() if value is None} == said["unknown"].keys()


def test_they_are_in_the_order_in_which_they_count(api: Client) -> None:
    for position, pattern in enumerate(("c*", "a*", "b*")):
        a_note(pattern, position=position)
    assert [row["group_pattern"] for row in kept(api.get(LIST))["results"]] == ["c*", "a*", "b*"]


def test_a_note_is_made(operator_api: Client) -> None:
    said = kept(operator_api.post(LIST, {"group_pattern": "bill*", "owner": "payments"}, JSON), 201)
    assert (said["owner"], said["position"], said["changed_by"]) == ("payments", 0, "alice")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"owner": "payments"}, "group_pattern"),
        ({"group_pattern": "bill*"}, "owner"),
        ({"group_pattern": "bill*", "runbook_url": "file:///etc"}, "runbook_url"),
        ({"group_pattern": "bill*", "owner": "x", "position": -1}, "position"),
    ],
)
def test_what_makes_no_sense_is_refused_by_field(operator_api: Client, body: dict[str, Any], name: str) -> None:
    answer = operator_api.post(LIST, body, JSON)
    assert (answer.status_code, list(answer.json()["errors"])) == (400, [name])
    assert not GroupNote.objects.exists()


def test_a_change_leaves_what_it_does_not_name_and_a_replacement_does_not(operator_api: Client) -> None:
    path = f"{LIST}{a_note().pk}/"
    changed = kept(operator_api.patch(path, {"owner": "billing"}, JSON))
    assert (changed["owner"], changed["labels"]) == ("billing", {"team": "payments"})
    put = kept(operator_api.put(path, {"group_pattern": "b*", "owner": "billing"}, JSON))
    assert (put["group_pattern"], put["labels"], put["runbook_url"]) == ("b*", {}, None)


def test_a_note_is_removed(operator_api: Client) -> None:
    assert operator_api.delete(f"{LIST}{a_note().pk}/").status_code == 204
    assert not GroupNote.objects.exists()


def test_a_viewer_changes_nothing(api: Client) -> None:
    path = f"{LIST}{a_note().pk}/"
    codes = [api.patch(path, {"owner": "x"}, JSON).status_code, api.delete(path).status_code]
    assert [*codes, api.post(LIST, {}, JSON).status_code] == [403, 403, 403]
    assert GroupNote.objects.get().owner == "payments"


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
def test_one_that_is_not_there_is_not_found(operator_api: Client, method: str) -> None:
    assert getattr(operator_api, method)(f"{LIST}77/", {}, JSON).status_code == 404
