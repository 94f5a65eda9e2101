"""Who did what stands in a list that nobody can change, and stays there after they are gone."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.admin.changed import Audited
from consumers.admin.read_only import ReadOnlyAdmin
from consumers.dead_letters.inspection import note_seen
from consumers.jobs.acts import note
from consumers.models import ApiToken, AuditEvent
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create(username="ada", is_staff=True, is_superuser=True)


@pytest.fixture
def pages(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def noted() -> list[tuple[str, str, str, str]]:
    return list(AuditEvent.objects.order_by("pk").values_list("by_name", "action", "subject", "sentence"))


def test_a_superuser_sees_who_looked_at_what_and_changes_nothing(ada: User, pages: Client) -> None:
    note_seen(ada, "prod/billing: broker-a/0 at 7", "Asked to see the body of the dead letter.", NOW)
    page = pages.get("/admin/consumers/auditevent/").text
    assert "prod/billing: broker-a/0 at 7" in page
    assert "Asked to see the body of the dead letter." in page
    assert pages.get("/admin/consumers/auditevent/add/").status_code == 403


def test_what_somebody_did_stays_known_after_they_are_deleted(pages: Client) -> None:
    bob = User.objects.create_user("bob")
    note_seen(bob, "prod/billing: broker-a/0 at 7", "Exported dead letters with their bodies.", NOW)
    note(a_group(a_cluster()), "billing", bob, "Started the re-send.", NOW)
    answer = pages.post(f"/admin/auth/user/{bob.pk}/delete/", {"post": "yes"})
    assert (answer.status_code, User.objects.filter(username="bob").exists()) == (302, False)
    assert noted() == [
        ("bob", "seen", "prod/billing: broker-a/0 at 7", "Exported dead letters with their bodies."),
        ("bob", "changed", "billing", "Started the re-send."),
        ("ada", "deleted", "bob", "Deleted."),
    ]


def test_what_is_done_on_the_admin_pages_stays_known_after_its_user_is_deleted(ada: User, pages: Client) -> None:
    pages.post("/admin/consumers/cluster/add/", {"name": "other", "namesrv": "10.0.0.1:9876"})
    group = Group.objects.create(name="readers")
    pages.post(f"/admin/auth/group/{group.pk}/change/", {"name": "lookers"})
    ada.delete()
    assert noted() == [("ada", "added", "other", "Added."), ("ada", "changed", "lookers", "Changed Name.")]


def test_several_that_are_deleted_at_once_are_noted_one_by_one(ada: User, pages: Client) -> None:
    for name in ("first", "second"):
        ApiToken.objects.create(user=ada, name=name, digest=name, created_at=NOW)
    chosen = {"action": "delete_selected", "_selected_action": list(ApiToken.objects.values_list("pk", flat=True))}
    pages.post("/admin/consumers/apitoken/", {**chosen, "post": "yes"})
    assert not ApiToken.objects.exists()
    assert sorted(noted()) == [("ada", "deleted", "first", "Deleted."), ("ada", "deleted", "second", "Deleted.")]


@pytest.mark.parametrize("page", admin.site._registry.values(), ids=lambda page: type(page).__name__)
def test_a_page_that_changes_something_notes_who_did(page: admin.ModelAdmin) -> None:
    assert isinstance(page, Audited | ReadOnlyAdmin)


def test_an_event_is_not_rewritten_and_not_deleted(ada: User) -> None:
    note(a_group(a_cluster()), "billing", ada, "Looked at it.", NOW)
    event = AuditEvent.objects.get()
    with pytest.raises(TypeError, match="not rewritten"):
        event.save()
    with pytest.raises(TypeError, match="not deleted"):
        event.delete()
