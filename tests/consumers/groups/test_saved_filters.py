"""Saved filters of the list of groups over REST: one's own, and those that are shared."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.models import AuditEvent, SavedFilter
from tests.world import NOW

pytestmark = [pytest.mark.usefixtures("stopped_clock"), pytest.mark.django_db]
LIST, JSON = "/api/v1/group-filters/", "application/json"
STALLED = {"name": "Stalled", "query": "state=STALL&ordering=-lag_messages"}


def kept(answer: Any, code: int = 200) -> dict[str, Any]:
    assert answer.status_code == code, answer.content
    return dict(answer.json())


def bob_saved(name: str, **fields: Any) -> SavedFilter:
    bob, _ = User.objects.get_or_create(username="bob")
    return SavedFilter.objects.create(user=bob, name=name, query="state=STOP", created_at=NOW, **fields)


def test_everybody_saves_a_filter(api: Client) -> None:
    said = kept(api.post(LIST, STALLED, JSON), 201)
    assert (said["name"], said["query"], said["is_own"], said["is_shared"]) == (*STALLED.values(), True, False)
    assert AuditEvent.objects.get().sentence == "Saved as 'state=STALL&ordering=-lag_messages'."


def test_owners_labels_and_brokers_are_saved(api: Client) -> None:
    query = "owner=payments-team&label=team%3Dpayments&broker=broker-a"
    assert kept(api.post(LIST, STALLED | {"query": query}, JSON), 201)["query"] == query


def test_one_of_the_same_name_is_replaced(api: Client) -> None:
    kept(api.post(LIST, STALLED, JSON), 201)
    kept(api.post(LIST, STALLED | {"query": "state=STOP"}, JSON), 201)
    assert [one.query for one in SavedFilter.objects.all()] == ["state=STOP"]


def test_one_s_own_and_shared_ones_are_listed_by_name(api: Client) -> None:
    kept(api.post(LIST, STALLED, JSON), 201)
    bob_saved("Bob's own")
    bob_saved("All stopped", is_shared=True)
    rows = kept(api.get(LIST))["results"]
    assert [(row["name"], row["is_own"], row["by"]) for row in rows] == [
        ("All stopped", False, "bob"), ("Stalled", True, "alice")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "field", "sentence"),
    [
        ({"query": "state=BROKEN"}, "query", "“BROKEN” is not allowed. Allowed: "),
        ({"query": "range=1h"}, "query", "“range” is not a filter. Allowed: "),
        ({"query": "?"}, "query", "Choose a filter, columns or an order first"),
        ({"query": "ordering=colour"}, "query", "“colour” is not allowed. Allowed: "),
        ({"query": "label=%3Dpayments"}, "query", "“=payments” is not a label"),
        ({"name": "two\nlines"}, "name", "Enter a name of one line"),
        ({"is_shared": "perhaps"}, "is_shared", "Must be a valid boolean."),
    ],
)
def test_what_is_no_filter_is_refused(api: Client, wish: dict[str, str], field: str, sentence: str) -> None:
    errors = kept(api.post(LIST, STALLED | wish, JSON), 400)["errors"]
    assert list(errors) == [field]
    assert errors[field][0].startswith(sentence)


def test_one_has_a_hundred_at_the_most(api: Client, api_user: User) -> None:
    rows = [SavedFilter(user=api_user, name=f"{n}", query="state=STOP", created_at=NOW) for n in range(100)]
    SavedFilter.objects.bulk_create(rows)
    assert api.post(LIST, STALLED, JSON).status_code == 409
    assert api.post(LIST, STALLED | {"name": "7"}, JSON).status_code == 201


def test_one_s_own_is_deleted(api: Client) -> None:
    said = kept(api.post(LIST, STALLED, JSON), 201)
    assert api.delete(f"{LIST}{said['id']}/").status_code == 204
    assert not SavedFilter.objects.exists()


def test_a_shared_one_of_somebody_else_stays(api: Client) -> None:
    assert api.delete(f"{LIST}{bob_saved('All stopped', is_shared=True).pk}/").status_code == 404
    assert SavedFilter.objects.exists()
