import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from consumers.models import ApiToken, SavedFilter
from consumers.rebalances.events import moment_text
from dashboard.page_urls import urlpatterns
from tests.alert_rows import a_channel, a_note, a_preview, a_rule, a_silence, an_incident
from tests.dead_letter_rows import a_resend
from tests.rebalance_rows import a_rebalance
from tests.reset_rows import a_reset
from tests.walk.addresses import PROD_BILLING
from tests.world import a_client, a_cluster, a_group, a_queue, ago

OPEN = {"login", "logout", "sign_on", "sign_on_callback", "theme", "times", "language", "favicon"}
NAMES = {**PROD_BILLING, "at": moment_text(ago(600))}
# What a worker answers, and has tests of its own.
ASKED = {"dlq_export"}
# What acts, and cannot be opened; who posts without permission is told so by tests of their own.
ACTS = {"group_dlq_read", "resend_start", "resend_cancel"}
ACTS |= {"reset_apply", "reset_resume", "reset_restore", "reset_cancel"}
ACTS |= {"incident_acknowledge", "channel_test", "alert_previews", "alert_preview_cancel", "thread_dump"}
ACTS |= {"connection_check", "group_filter_save"}
# Forms, opened and sent at the same address.
FORMS = {"resend_plan", "reset_plan", "silences", "channel_add", "channel", "alert_note_add", "alert_note"}
FORMS |= {"selected_silence", "selected_plan", "tokens", "password", "alert_rule_add", "alert_rule", "lost_offsets"}
# Questions, whose button removes what they are about.
FORMS |= {"silence_end", "channel_remove", "alert_note_remove", "token_revoke", "alert_rule_remove"}
FORMS |= {"group_filter_remove"}
ROUTES = {str(route.name): route for route in urlpatterns}
GUARDED = [str(pattern.name) for pattern in urlpatterns if pattern.name not in OPEN]

pytestmark = pytest.mark.django_db


def address(name: str) -> str:
    return reverse(name, kwargs={word: NAMES[word] for word in ROUTES[name].pattern.converters})


@pytest.mark.parametrize("name", GUARDED)
def test_it_leads_a_stranger_to_the_login_page(client: Client, name: str) -> None:
    response = (client.post if name in ACTS else client.get)(address(name))
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/login/?next=")


@pytest.mark.parametrize("name", [name for name in GUARDED if name.endswith("_part")])
def test_a_part_tells_the_browser_to_load_the_page_again_when_the_session_is_over(client: Client, name: str) -> None:
    response = client.get(address(name), headers={"HX-Request": "true"})
    assert response.headers["HX-Refresh"] == "true"
    assert response.content == b""


@pytest.mark.parametrize("name", [name for name in GUARDED if name not in ASKED | ACTS])
def test_it_answers_who_is_logged_in_and_is_not_cached(admin_client: Client, name: str) -> None:
    group = a_group(a_cluster(), "billing")
    a_queue(group.cluster, PROD_BILLING["topic"])
    a_client(group, PROD_BILLING["client"])
    a_rebalance(group, ago(600))
    a_resend(group, id=PROD_BILLING["resend"])
    a_reset(group, id=PROD_BILLING["reset"])
    an_incident(a_rule(id=PROD_BILLING["rule"]), group, id=PROD_BILLING["incident"])
    a_channel(id=PROD_BILLING["channel"])
    a_note(id=PROD_BILLING["note"])
    a_silence(id=PROD_BILLING["silence"])
    own = {"user_id": admin_client.session["_auth_user_id"], "created_at": ago(600)}
    ApiToken.objects.create(id=PROD_BILLING["token"], name="CI", **own)
    SavedFilter.objects.create(id=PROD_BILLING["filter"], name="mine", **own)
    a_preview(id=PROD_BILLING["preview"])
    response = admin_client.get(address(name))
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize("name", [name for name in GUARDED if name not in ACTS | FORMS])
def test_it_refuses_to_be_posted_to(admin_client: Client, name: str) -> None:
    assert admin_client.post(address(name)).status_code == 405


@pytest.mark.parametrize("name", sorted(ACTS))
def test_what_acts_is_not_done_by_opening_it(admin_client: Client, name: str) -> None:
    assert admin_client.get(address(name)).status_code == 405


def test_patterns_are_for_staff(client: Client) -> None:
    client.force_login(User.objects.create_user("vera"))
    assert client.get("/patterns/").status_code == 403


def test_the_admin_link_is_for_staff(client: Client) -> None:
    client.force_login(User.objects.create_user("vera"))
    assert "/admin/" not in client.get("/").text


def test_login_leads_to_the_page_that_was_asked_for(client: Client) -> None:
    User.objects.create_user("vera", password="a secret")
    response = client.post("/login/", {"username": "vera", "password": "a secret", "next": "/clusters/"})
    assert response.headers["Location"] == "/clusters/"


def test_a_wrong_password_is_said_and_the_name_kept(client: Client) -> None:
    page = client.post("/login/", {"username": "vera", "password": "wrong"}).text
    assert "Wrong user name or password." in page
    assert 'value="vera"' in page
