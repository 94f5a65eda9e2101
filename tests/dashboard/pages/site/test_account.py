"""API tokens and the password of who is logged in."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.models import ApiToken, AuditEvent, ClusterRole
from consumers.models.site import token_digest
from tests.reset_rows import logged_in
from tests.world import NOW, a_cluster

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
PASSWORD = "a good long password"


@pytest.fixture
def user() -> User:
    return User.objects.create_user("sam", password=PASSWORD)


@pytest.fixture
def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def made(browser: Client, **fields: str) -> str:
    page = browser.post("/account/tokens/", {"name": "scripts", "days": "30"} | fields).text
    return page.partition('<code id="made-token">')[2].partition("</code>")[0]


@pytest.mark.parametrize("word", ["Bearer", "Token"])
def test_a_token_is_shown_once_and_lets_in(browser: Client, word: str) -> None:
    token = made(browser)
    assert Client(headers={"authorization": f"{word} {token}"}).get("/api/v1/clusters/").status_code == 200
    assert token not in browser.get("/account/tokens/").text


def test_only_the_digest_of_a_token_is_stored_and_it_expires_as_chosen(browser: Client) -> None:
    token = made(browser, days="30")
    row = ApiToken.objects.get()
    assert (row.digest, row.name, row.expires_at) == (token_digest(token), "scripts", NOW + timedelta(days=30))
    made(browser, days="")
    assert ApiToken.objects.latest("pk").expires_at is None


@pytest.mark.parametrize("fields", [{"name": ""}, {"name": "x" * 101}, {"days": "31"}])
def test_what_is_no_token_is_refused_and_none_is_made(browser: Client, fields: dict[str, str]) -> None:
    answer = browser.post("/account/tokens/", {"name": "scripts", "days": "30"} | fields)
    assert answer.status_code == 400
    assert not ApiToken.objects.exists()


def test_a_revoked_token_lets_nobody_in(browser: Client) -> None:
    token = made(browser)
    browser.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/")
    assert Client(headers={"authorization": f"Bearer {token}"}).get("/api/v1/clusters/").status_code == 401


def test_what_is_done_to_tokens_is_an_audit_event(browser: Client) -> None:
    made(browser)
    browser.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/")
    events = AuditEvent.objects.order_by("pk").values_list("action", "subject", "by_name")
    assert list(events) == [("added", "sam: scripts", "sam"), ("deleted", "sam: scripts", "sam")]


def test_another_users_token_is_neither_listed_nor_revoked(browser: Client) -> None:
    other = logged_in("operator")
    made(other, name="theirs")
    assert "theirs" not in browser.get("/account/tokens/").text
    assert browser.post(f"/account/tokens/{ApiToken.objects.get().pk}/revoke/").status_code == 404
    assert ApiToken.objects.exists()


def roles_shown(browser: Client) -> str:
    section = browser.get("/account/tokens/").text.partition('<section id="roles">')[2].partition("</section>")[0]
    return " ".join(re.sub("<[^>]*>", " ", section).split())


def test_it_lists_the_roles_of_who_looks(browser: Client, user: User) -> None:
    assert roles_shown(browser) == "Your roles You have no role. Ask an administrator for one to change anything."
    user.groups.add(Group.objects.get(name="viewer"))
    operator = Group.objects.get(name="operator")
    ClusterRole.objects.create(user=user, cluster=a_cluster("staging"), role=operator)
    assert roles_shown(browser) == "Your roles operator on staging viewer on all clusters"
    User.objects.update(is_superuser=True)
    assert roles_shown(browser) == "Your roles You are a superuser: you may do everything."


def test_a_password_is_changed_by_who_knows_it(browser: Client, user: User) -> None:
    fields = {"old_password": PASSWORD, "new_password1": "another long one", "new_password2": "another long one"}
    assert browser.post("/account/password/", fields).headers["Location"] == "/account/password/changed/"
    user.refresh_from_db()
    assert user.check_password("another long one")
    assert AuditEvent.objects.get().sentence == "Changed the password."


def test_a_wrong_old_password_changes_nothing(browser: Client, user: User) -> None:
    fields = {"old_password": "wrong", "new_password1": "another long one", "new_password2": "another long one"}
    assert browser.post("/account/password/", fields).status_code == 200
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
