"""For how long what the provider said is believed: of sessions and of API tokens."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from consumers.models import ApiToken
from consumers.models.site import token_digest
from tests.oidc_provider import DISCOVERY, TOKEN, OidcProvider, sign_on
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
PAGE = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def browser(provider: OidcProvider, settings: Any) -> Client:
    """Of an operator who signed in now, for an hour."""
    settings.CONSUMERSCOPE_OIDC_SESSION_MINUTES = 60
    client = Client()
    sign_on(client, provider, groups=["sre"])
    return client


def later(**of: float) -> Any:
    return time_machine.travel(NOW + timedelta(**of), tick=False)


def test_in_its_first_half_a_session_is_not_asked_about(browser: Client) -> None:
    with later(minutes=29):
        assert browser.get("/groups/", headers=PAGE).status_code == 200


def test_in_its_second_half_a_page_leads_by_the_provider(browser: Client) -> None:
    with later(minutes=31):
        answer = browser.get("/groups/?state=STALL", headers=PAGE)
        assert (answer.status_code, answer.headers["Location"]) == (302, "/sign-on/?next=%2Fgroups%2F%3Fstate%3DSTALL")


def test_a_renewed_session_is_good_for_its_whole_time_again(browser: Client, provider: OidcProvider) -> None:
    with later(minutes=59):
        assert sign_on(browser, provider, "/groups/", groups=["sre"]).headers["Location"] == "/groups/"
    with later(minutes=80):
        assert browser.get("/groups/", headers=PAGE).status_code == 200


def test_a_renewal_takes_the_role_of_a_group_that_was_left_away(browser: Client, provider: OidcProvider) -> None:
    with later(minutes=31):
        sign_on(browser, provider, groups=["all"])
        assert not User.objects.get().has_perm("consumers.reset_offsets")


def test_a_renewal_that_is_refused_ends_the_session(browser: Client, provider: OidcProvider) -> None:
    with later(minutes=31):
        assert sign_on(browser, provider, groups=[]).status_code == 403
        assert browser.get("/groups/").status_code == 302


def test_so_does_one_whose_token_is_not_for_this_site(browser: Client, provider: OidcProvider) -> None:
    with later(minutes=31):
        assert sign_on(browser, provider, groups=["sre"], aud="another").status_code == 403
        assert browser.get("/groups/").status_code == 302


@pytest.mark.parametrize(
    "asked",
    [
        {"path": "/parts/groups/", "headers": {"HX-Request": "true", "Accept": "text/html"}},
        {"path": "/api/v1/groups/", "headers": {"Accept": "*/*"}},
    ],
)
def test_what_scripts_ask_for_is_not_led_to_the_provider(browser: Client, asked: dict[str, Any]) -> None:
    with later(minutes=59):
        assert browser.get(**asked).status_code == 200


def test_a_form_that_was_opened_in_time_is_taken(browser: Client) -> None:
    a_group(a_cluster(), "billing")
    form = {"name": "Mine", "query": "state=STALL"}
    with later(minutes=59):
        assert not browser.post("/group-filters/", form).headers.get("Location", "").startswith("/login/")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("get", "/groups/", 302), ("post", "/group-filters/", 302), ("get", "/api/v1/groups/", 401)],
)
def test_past_its_time_a_session_is_nobodys(browser: Client, method: str, path: str, status: int) -> None:
    with later(minutes=60):
        answer = getattr(browser, method)(path)
    assert (answer.status_code, answer.headers.get("Location", "/login/")[:7]) == (status, "/login/")


def test_past_its_time_a_part_loads_its_page_again(browser: Client) -> None:
    with later(minutes=60):
        answer = browser.get("/alerts/part/", headers={"HX-Request": "true"})
    assert answer.headers["HX-Refresh"] == "true"


def test_past_its_time_names_are_not_told(browser: Client) -> None:
    a_cluster("prod")
    within = browser.get("/readyz").text
    with later(minutes=60):
        assert ("prod" in within, "prod" in browser.get("/readyz").text) == (True, False)


def test_what_somebody_leaves_who_begins_and_does_not_sign_in_is_deleted(provider: OidcProvider) -> None:
    for _ in range(3):
        Client().get("/sign-on/")
    with later(minutes=10, seconds=1):
        browser = Client()
        sign_on(browser, provider, groups=["sre"])
        assert [one.session_key for one in Session.objects.all()] == [browser.session.session_key]
        assert browser.session.get_expiry_age() > 86400


def test_a_session_with_a_password_is_not_asked_about(client: Client, provider: OidcProvider) -> None:
    client.force_login(User.objects.create(username="vera"), "django.contrib.auth.backends.ModelBackend")
    with later(days=3):
        assert client.get("/groups/", headers=PAGE).status_code == 200


@pytest.mark.parametrize("path", [DISCOVERY, TOKEN])
def test_a_session_that_is_good_outlives_a_provider_that_does_not_answer(
    browser: Client, provider: OidcProvider, path: str
) -> None:
    with later(minutes=31):
        provider.answers[path] = (502, b"")
        led = browser.get("/sign-on/?next=/groups/")
        if path == TOKEN:
            provider.answers.clear()
            provider.answers[path] = (502, b"")
            led = sign_on(browser, provider, "/groups/", groups=["sre"])
        assert led.headers["Location"] == "/groups/"
        assert browser.get("/groups/", headers=PAGE).status_code == 200


def test_a_renewal_that_failed_is_tried_again_after_a_minute(browser: Client, provider: OidcProvider) -> None:
    provider.answers[DISCOVERY] = (502, b"")
    with later(minutes=31):
        browser.get("/sign-on/?next=/groups/")
    with later(minutes=32, seconds=1):
        assert browser.get("/groups/", headers=PAGE).headers["Location"].startswith("/sign-on/")


def test_no_session_outlives_its_time_while_the_provider_does_not_answer(
    browser: Client, provider: OidcProvider
) -> None:
    provider.answers[DISCOVERY] = (502, b"")
    with later(minutes=60):
        assert browser.get("/sign-on/?next=/groups/").status_code == 503
        assert browser.get("/groups/").status_code == 302


def test_other_sessions_of_somebody_who_is_refused_end(browser: Client, provider: OidcProvider) -> None:
    sign_on(Client(), provider, groups=[])
    assert browser.get("/groups/").status_code == 302


def a_token() -> dict[str, str]:
    ApiToken.objects.create(user=User.objects.get(), name="ci", digest=token_digest("t"), created_at=NOW)
    return {"Authorization": "Bearer t"}


def test_a_token_works_for_some_days_after_the_last_sign_in(
    browser: Client, provider: OidcProvider, settings: Any
) -> None:
    settings.CONSUMERSCOPE_OIDC_TOKEN_DAYS = 30
    headers = a_token()
    with later(days=29):
        assert Client().get("/api/v1/groups/", headers=headers).status_code == 200
    with later(days=30):
        refused = Client().get("/api/v1/groups/", headers=headers)
        assert (refused.status_code, "Sign in, and the token works again." in refused.text) == (401, True)
        sign_on(Client(), provider, groups=["all"])
        assert Client().get("/api/v1/groups/", headers=headers).status_code == 200


def test_a_token_of_a_local_user_is_not_limited_by_it(client: Client, provider: OidcProvider) -> None:
    User.objects.create(username="ci")
    headers = a_token()
    with later(days=900):
        assert client.get("/api/v1/groups/", headers=headers).status_code == 200


def test_a_token_of_somebody_who_is_refused_does_not_work(browser: Client, provider: OidcProvider) -> None:
    headers = a_token()
    sign_on(Client(), provider, groups=[])
    assert Client().get("/api/v1/groups/", headers=headers).status_code == 401
