"""Sign-on with a provider on the loopback, whole: from the button to the session, and out again."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.oidc_provider import OidcProvider, begun, sign_on, without_passwords

pytestmark = pytest.mark.django_db


def test_somebody_of_a_mapped_group_is_signed_in(client: Client, provider: OidcProvider) -> None:
    answer = sign_on(client, provider, groups=["sre", "others"])
    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert client.session["_auth_user_id"] == str(User.objects.get().pk)


def test_it_leads_back_to_the_page_that_was_asked_for(client: Client, provider: OidcProvider) -> None:
    assert (
        sign_on(client, provider, "/groups/?state=STALL", groups=["all"]).headers["Location"] == "/groups/?state=STALL"
    )


@pytest.mark.parametrize(
    "page", ["https://elsewhere.example/", "//elsewhere.example/", "/\\elsewhere.example/", "javascript:alert(1)"]
)
def test_it_leads_to_no_other_site(client: Client, provider: OidcProvider, page: str) -> None:
    assert sign_on(client, provider, page, groups=["all"]).headers["Location"] == "/"


def test_the_code_is_bound_to_the_browser_that_asked(client: Client, provider: OidcProvider) -> None:
    sign_on(client, provider, groups=["sre"])
    assert len(provider.asked[0]["code_verifier"][0]) == 64


def test_the_provider_is_asked_for_this_client_and_address(client: Client, provider: OidcProvider) -> None:
    asked = begun(client)
    assert (asked["client_id"], asked["redirect_uri"]) == ("consumerscope", "http://testserver/sign-on/callback/")
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")


def test_logging_out_ends_the_session_and_does_not_sign_in_again(
    client: Client, provider: OidcProvider, settings: Any
) -> None:
    without_passwords(settings)
    sign_on(client, provider, groups=["all"])
    left = client.post("/logout/", follow=True)
    assert (left.redirect_chain, "Sign in with SSO" in left.text) == ([("/login/", 302)], True)
    assert client.get("/groups/").status_code == 302


def test_the_login_page_offers_the_provider_beside_passwords(client: Client, provider: OidcProvider) -> None:
    page = client.get("/login/?next=/groups/").text
    assert 'href="/sign-on/?next=%2Fgroups%2F"' in page
    assert 'name="password"' in page


def test_a_password_still_logs_in_beside_it(client: Client, provider: OidcProvider) -> None:
    User.objects.create_user("vera", password="a secret")
    assert client.post("/login/", {"username": "vera", "password": "a secret"}).status_code == 302


def test_without_passwords_who_opens_a_page_is_led_to_the_provider(
    client: Client, provider: OidcProvider, settings: Any
) -> None:
    without_passwords(settings)
    led = client.get("/groups/?state=STALL", follow=False)
    assert client.get(led.headers["Location"]).headers["Location"] == "/sign-on/?next=%2Fgroups%2F%3Fstate%3DSTALL"


def test_without_passwords_none_is_taken_or_asked_for(client: Client, provider: OidcProvider, settings: Any) -> None:
    without_passwords(settings)
    User.objects.create_superuser("root", password="a secret")
    answer = client.post("/login/", {"username": "root", "password": "a secret"})
    assert (answer.status_code, "_auth_user_id" in client.session) == (403, False)
    assert 'name="password"' not in client.get("/login/").text


def test_without_passwords_a_session_that_began_with_one_is_over(
    client: Client, provider: OidcProvider, settings: Any
) -> None:
    client.force_login(User.objects.create_user("vera"), settings.AUTHENTICATION_BACKENDS[0])
    without_passwords(settings)
    assert client.get("/groups/").status_code == 302


def test_admin_pages_lead_to_the_login_page_of_all(client: Client, provider: OidcProvider) -> None:
    led = client.get("/admin/consumers/", follow=True).redirect_chain
    assert led[-1][0] == "/login/?next=%2Fadmin%2Fconsumers%2F"


def test_without_passwords_admin_pages_refuse_who_is_no_staff(
    client: Client, provider: OidcProvider, settings: Any
) -> None:
    without_passwords(settings)
    sign_on(client, provider, groups=["all"])
    assert client.get("/admin/", follow=True).status_code == 403


def test_a_person_without_a_password_is_not_offered_to_change_it(client: Client, provider: OidcProvider) -> None:
    sign_on(client, provider, groups=["all"])
    assert "/account/password/" not in client.get("/").text


def test_a_local_user_still_is(client: Client, provider: OidcProvider) -> None:
    client.force_login(
        User.objects.create_user("vera", password="a secret"), "django.contrib.auth.backends.ModelBackend"
    )
    assert "/account/password/" in client.get("/").text


def test_nothing_of_it_is_cached(client: Client, provider: OidcProvider) -> None:
    answers = [client.get("/sign-on/"), client.get("/sign-on/callback/")]
    assert all("no-store" in answer.headers["Cache-Control"] for answer in answers)


def test_nothing_of_it_is_there_without_a_provider(client: Client) -> None:
    assert "Sign in with" not in client.get("/login/").text
    assert [client.get(path).status_code for path in ("/sign-on/", "/sign-on/callback/")] == [404, 404]
