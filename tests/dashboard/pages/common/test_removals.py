"""What takes something away asks first, and the next page says that it was done."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from consumers.models import AlertRule, ApiToken, Channel, GroupNote, SavedFilter, Silence
from consumers.rest.access import make_token
from tests.alert_rows import a_channel, a_note, a_rule, a_silence

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("ada"))
    return client


def a_token() -> ApiToken:
    make_token(User.objects.get(username="ada"), "CI", None, timezone.now())
    return ApiToken.objects.get()


def a_filter() -> SavedFilter:
    ada = User.objects.get(username="ada")
    return SavedFilter.objects.create(user=ada, name="mine", query="state=STOP", created_at=timezone.now())


KINDS = {
    "rule": (
        lambda: a_rule(name="Late"),
        "/alerts/rules/{}/remove/",
        "Remove the rule Late?",
        "Removed the rule Late.",
    ),
    "channel": (
        lambda: a_channel(name="pager"),
        "/alerts/channels/{}/remove/",
        "Remove the channel pager?",
        "Removed the channel pager.",
    ),
    "note": (
        lambda: a_note(group_pattern="billing*"),
        "/alerts/notes/{}/remove/",
        "Remove the note about billing*?",
        "Removed the note about billing*.",
    ),
    "token": (a_token, "/account/tokens/{}/revoke/", "Revoke the token CI?", "Revoked the token CI."),
    "filter": (a_filter, "/group-filters/{}/remove/", "Delete the filter mine?", "Deleted the filter mine."),
}
MODELS = {"rule": AlertRule, "channel": Channel, "note": GroupNote, "token": ApiToken, "filter": SavedFilter}


@pytest.mark.parametrize("kind", KINDS)
def test_opening_asks_and_removes_nothing(ada: Client, kind: str) -> None:
    make, address, question, _done = KINDS[kind]
    row = make()
    page = ada.get(address.format(row.pk))
    assert f"<h1>{question}</h1>" in page.text
    assert MODELS[kind].objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("kind", KINDS)
def test_sending_removes_and_the_next_page_says_so_once(ada: Client, kind: str) -> None:
    make, address, _question, done = KINDS[kind]
    row = make()
    answer = ada.post(address.format(row.pk))
    assert not MODELS[kind].objects.filter(pk=row.pk).exists()
    notice = f'<p class="notice success" role="status">{done}</p>'
    assert notice in ada.get(answer.headers["Location"]).text
    assert notice not in ada.get(answer.headers["Location"]).text


def test_a_silence_is_ended_after_a_question(ada: Client) -> None:
    silence = a_silence(group_pattern="billing*")
    address = f"/alerts/silences/{silence.pk}/end/"
    before = silence.ends_at
    assert "End the silence of " in ada.get(address).text
    assert Silence.objects.get().ends_at == before
    ada.post(address)
    assert Silence.objects.get().ends_at < before


def test_what_cannot_be_removed_stays_and_the_question_says_why(ada: Client) -> None:
    rule = a_rule(name="Stopped", key="stopped")
    answer = ada.post(f"/alerts/rules/{rule.pk}/remove/")
    assert answer.status_code == 409
    assert "A built-in rule cannot be restored after its removal: disable it instead." in answer.text
    assert AlertRule.objects.filter(pk=rule.pk).exists()


def test_who_may_not_remove_is_not_asked(client: Client) -> None:
    client.force_login(User.objects.create_user("vera"))
    assert client.get(f"/alerts/channels/{a_channel().pk}/remove/").status_code == 403


def test_what_is_saved_is_confirmed(ada: Client) -> None:
    sent = {"group_pattern": "audit*", "owner": "payments", "position": "0"}
    assert "Added the note about audit*." in ada.post("/alerts/notes/add/", sent, follow=True).text
