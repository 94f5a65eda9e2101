"""Notes about groups: listed with how many groups each names, written and removed."""

import pytest
from django.test import Client

from consumers.models import GroupNote
from tests.alert_pages import shown
from tests.alert_rows import a_note
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db
GOOD = {"group_pattern": "bill*", "owner": "payments", "labels": "team=payments", "position": "3"}


def test_each_says_how_many_groups_it_names(viewer: Client) -> None:
    cluster = a_cluster()
    a_group(cluster, "billing")
    a_group(cluster, "bills")
    a_note()
    a_note("nobody*")
    read = shown(viewer.get("/alerts/notes/"))
    assert "bill* all 2 payments https://wiki.example.org/billing Restart one member at a time. team=payments" in read
    assert "nobody* all none payments" in read


def test_an_empty_list_teaches(viewer: Client) -> None:
    assert "No notes yet. A note sets the owner" in shown(viewer.get("/alerts/notes/"))


def test_one_is_added(operator: Client) -> None:
    answer = operator.post("/alerts/notes/add/", GOOD)
    assert (answer.status_code, answer["Location"]) == (302, "/alerts/notes/")
    note = GroupNote.objects.get()
    assert (note.group_pattern, note.owner, note.labels, note.position) == (
        "bill*",
        "payments",
        {"team": "payments"},
        3,
    )
    assert note.changed_by_name == "operator"


def test_one_is_changed_and_its_form_tells_what_it_matches(operator: Client) -> None:
    a_group(a_cluster(), "billing")
    note = a_note()
    page = operator.get(f"/alerts/notes/{note.pk}/")
    assert "groups that this matches: 1" in shown(page)
    assert ">team=payments</textarea>" in page.text
    operator.post(f"/alerts/notes/{note.pk}/", GOOD | {"owner": "platform"})
    note.refresh_from_db()
    assert (note.owner, note.runbook_url) == ("platform", "")


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"group_pattern": ""}, "group_pattern"),
        ({"labels": "payments"}, "labels"),
        ({"position": "first"}, "position"),
        ({"runbook_url": "javascript:alert(1)"}, "runbook_url"),
        ({"owner": "", "labels": ""}, "owner"),
    ],
)
def test_what_is_wrong_is_said_by_its_field(operator: Client, said: dict[str, str], field: str) -> None:
    answer = operator.post("/alerts/notes/add/", GOOD | said)
    assert answer.status_code == 400
    assert f'<a href="#field-{field}">' in answer.text
    assert f'id="field-{field}"' in answer.text
    assert not GroupNote.objects.exists()


def test_one_is_removed(operator: Client) -> None:
    note = a_note()
    assert operator.post(f"/alerts/notes/{note.pk}/remove/").status_code == 302
    assert not GroupNote.objects.exists()
    assert operator.get(f"/alerts/notes/{note.pk}/").status_code == 404


def test_a_viewer_looks_and_is_told_why(viewer: Client) -> None:
    note = a_note()
    page = viewer.get(f"/alerts/notes/{note.pk}/")
    assert "You need the role operator or admin" in shown(page)
    assert "<form" not in page.text.partition("<main")[2]
    for path in ("add/", f"{note.pk}/", f"{note.pk}/remove/"):
        assert viewer.post(f"/alerts/notes/{path}", GOOD).status_code == 403


def test_a_group_bears_what_is_noted_of_it(viewer: Client) -> None:
    """The owner of the note that counts first, and the labels of both."""
    a_group(a_cluster(), "billing")
    a_note(owner="payments", runbook_url="", note="Ask before restarts.", position=0)
    a_note("*", owner="platform", note="", labels={"tier": "1"}, position=9)
    page = viewer.get("/groups/prod/billing/")
    read = shown(page)
    assert "owner payments runbook https://wiki.example.org/billing tier=1 team=payments Ask before restarts." in read
    assert 'href="https://wiki.example.org/billing"' in page.text


def test_a_group_of_which_nothing_is_noted_says_nothing(viewer: Client) -> None:
    a_group(a_cluster(), "billing")
    assert 'class="noted"' not in viewer.get("/groups/prod/billing/").text
