"""Saved filters above the list of groups."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from consumers.models import SavedFilter
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
QUERY = "state=STALL&ordering=-lag_messages"


@pytest.fixture(autouse=True)
def _a_group() -> None:
    a_group(a_cluster(), "billing")


def test_what_is_shown_is_saved_under_a_name(viewer: Client) -> None:
    answer = viewer.post("/group-filters/", {"name": "Stalled", "query": QUERY, "is_shared": "1"})
    assert answer.headers["location"] == f"/groups/?{QUERY}"
    assert SavedFilter.objects.get().is_shared
    text = viewer.get(f"/groups/?{QUERY}&range=6h").text
    assert f'<a href="/groups/?{QUERY.replace("&", "&amp;")}" aria-current="true">Stalled</a>' in text


def test_the_form_offers_only_filters_not_the_range(viewer: Client) -> None:
    text = viewer.get(f"/groups/?range=6h&page=1&{QUERY}").text
    assert f'name="query" value="{QUERY.replace("&", "&amp;")}"' in text
    assert 'name="query"' not in viewer.get("/groups/?range=6h").text


def test_a_shared_one_of_somebody_else_is_listed_and_not_removed(viewer: Client) -> None:
    bob = User.objects.create(username="bob")
    shared = SavedFilter.objects.create(user=bob, name="Stopped", query=QUERY, is_shared=True, created_at=NOW)
    SavedFilter.objects.create(user=bob, name="Bob's own", query=QUERY, created_at=NOW)
    text = viewer.get("/groups/").text
    assert "Stopped" in text
    assert "Bob&#x27;s own" not in text
    assert f"/group-filters/{shared.pk}/remove/" not in text
    assert viewer.post(f"/group-filters/{shared.pk}/remove/").status_code == 404


def test_one_s_own_is_removed(viewer: Client) -> None:
    viewer.post("/group-filters/", {"name": "Stalled", "query": QUERY})
    saved = SavedFilter.objects.get()
    assert f"/group-filters/{saved.pk}/remove/" in viewer.get("/groups/").text
    assert viewer.post(f"/group-filters/{saved.pk}/remove/").status_code == 302
    assert not SavedFilter.objects.exists()


def test_a_refusal_says_why_and_leads_back(viewer: Client) -> None:
    answer = viewer.post("/group-filters/", {"name": " ", "query": QUERY})
    assert answer.status_code == 400
    assert "Enter a name of one line" in answer.text
    assert f'href="/groups/?{QUERY.replace("&", "&amp;")}"' in answer.text
