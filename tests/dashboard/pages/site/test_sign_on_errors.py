"""Whatever is wrong with the provider or its answers is one sentence, with what to do, and nobody is signed in."""

import logging
import time
from typing import Any

import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from dashboard.pages.site.sign_on_provider import is_as_safe
from tests.oidc_provider import CLIENT, DISCOVERY, KEYS, TOKEN, OidcProvider, begun, sign_on
from tests.world import NOW

pytestmark = pytest.mark.django_db


def sentence(answer: Any) -> str:
    """The one that the page says aloud."""
    return str(answer.text).partition('role="alert">')[2].partition("</p>")[0]


def nobody(client: Client) -> bool:
    return not User.objects.exists() and "_auth_user_id" not in client.session


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        (
            {"aud": "another"},
            "the token is for another site. Ask an administrator to check CONSUMERSCOPE_OIDC_CLIENT_ID",
        ),
        ({"aud": [CLIENT, "another"], "azp": "another"}, "the token is for another site"),
        ({"iss": "http://elsewhere"}, "the token is of another issuer"),
        ({"exp": 1}, "compare the clocks of this site and of the provider"),
        ({"iat": 2**40}, "compare the clocks of this site and of the provider"),
        ({"exp": None}, "token is not valid"),
        ({"sub": None}, "token is not valid"),
        ({"sub": 7}, "token is not valid"),
        ({"sub": "x" * 256}, "the token names nobody"),
        ({"sub": ""}, "the token names nobody"),
        ({"nonce": "another"}, "did not begin in this browser"),
        ({"groups": None}, "the token has no list of groups. Ask an administrator to add the claim “groups” to it."),
        ({"groups": {"sre": True}}, "the token has no list of groups"),
        ({"groups": ["others"]}, "none of your groups has a role here. Ask an administrator for access."),
        ({"groups": []}, "none of your groups has a role here"),
    ],
)
def test_a_token_that_lets_nobody_in_says_why(
    client: Client, provider: OidcProvider, claims: dict[str, Any], why: str
) -> None:
    answer = sign_on(client, provider, **{"groups": ["sre"], **claims})
    assert (answer.status_code, nobody(client)) == (403, True)
    assert why in sentence(answer)


def test_an_address_that_begins_too_many_is_told_when_to_try_again_and_leaves_no_session(
    provider: OidcProvider, settings: Any, redis_is_down: None
) -> None:
    settings.LOGIN_WINDOW_SECONDS, settings.LOGIN_ADDRESS_FAILURES = 300, 2
    with time_machine.travel(NOW, tick=False):
        answers = [Client().get("/sign-on/", REMOTE_ADDR="198.51.100.7") for _ in range(4)]
        elsewhere = Client().get("/sign-on/", REMOTE_ADDR="203.0.113.9")
    assert [answer.status_code for answer in (*answers, elsewhere)] == [302, 302, 429, 429, 302]
    assert "too many sign-ins were begun from your address. Try again in" in sentence(answers[2])
    assert 0 < int(answers[2].headers["Retry-After"]) <= 300
    assert Session.objects.count() == 3


def test_somebody_who_is_signed_in_and_is_led_by_the_provider_again_is_not_counted(
    client: Client, provider: OidcProvider, settings: Any, redis_is_down: None
) -> None:
    settings.LOGIN_ADDRESS_FAILURES = 1
    sign_on(client, provider, groups=["sre"])
    assert [client.get("/sign-on/").status_code for _ in range(3)] == [302] * 3


def test_clocks_may_differ_by_half_a_minute(client: Client, provider: OidcProvider) -> None:
    now = int(time.time())
    assert sign_on(client, provider, groups=["sre"], iat=now + 30, exp=now + 90).status_code == 302
    assert sign_on(Client(), provider, groups=["sre"], exp=now - 30).status_code == 302


def test_a_token_that_another_key_signed_is_refused(client: Client, provider: OidcProvider) -> None:
    provider.signed_with = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    answer = sign_on(client, provider, groups=["sre"])
    assert (answer.status_code, "token is not valid" in sentence(answer), nobody(client)) == (403, True, True)


NO_OBJECT, BROKEN = (200, b"[]"), (200, b"<html>")


@pytest.mark.parametrize(
    ("path", "answered", "status", "why"),
    [
        (DISCOVERY, (502, b""), 503, "does not answer. Try again later."),
        (DISCOVERY, (404, b""), 503, "/.well-known/openid-configuration cannot be read. Ask an administrator"),
        (DISCOVERY, BROKEN, 503, "/.well-known/openid-configuration cannot be read"),
        (DISCOVERY, NO_OBJECT, 503, "/.well-known/openid-configuration cannot be read"),
        (DISCOVERY, (200, {"issuer": "https://another"}), 503, "the provider calls itself “https://another”"),
        (KEYS, (502, b""), 503, "does not answer. Try again later."),
        (KEYS, BROKEN, 503, "/keys cannot be read"),
        (KEYS, NO_OBJECT, 503, "/keys cannot be read"),
        (KEYS, (200, {"keys": "none"}), 503, "/keys cannot be read"),
        (KEYS, (200, {"keys": ["none"]}), 503, "/keys cannot be read"),
        (KEYS, (200, {"keys": []}), 503, "/keys cannot be read"),
        (KEYS, (200, {"keys": [{"kty": "RSA", "n": "ü", "e": 7}]}), 503, "/keys cannot be read"),
        (TOKEN, (502, b""), 503, "does not answer. Try again later."),
        (TOKEN, BROKEN, 503, "/token cannot be read"),
        (TOKEN, NO_OBJECT, 503, "/token cannot be read"),
        (TOKEN, (200, {"access_token": "only"}), 503, "/token cannot be read"),
        (TOKEN, (200, {"id_token": "no token"}), 403, "token is not valid"),
        (TOKEN, (401, {"error": "invalid_client"}), 403, "check the client's ID, secret and redirect address"),
        (TOKEN, (400, {"error": "invalid_grant"}), 403, "the provider did not accept the code. Try again"),
    ],
)
def test_an_answer_of_the_provider_that_is_wrong_says_so(
    client: Client, provider: OidcProvider, path: str, answered: tuple[int, Any], status: int, why: str
) -> None:
    asked = begun(client)
    provider.nonce, provider.claims, provider.answers = asked["nonce"], {"groups": ["sre"]}, {path: answered}
    answer = client.get("/sign-on/callback/", {"code": "code", "state": asked["state"]})
    assert (answer.status_code, nobody(client)) == (status, True)
    assert why in sentence(answer).replace("&#x27;", "'")


def test_a_provider_that_does_not_answer_is_named(client: Client, provider: OidcProvider, settings: Any) -> None:
    settings.CONSUMERSCOPE_OIDC_ISSUER = "http://127.0.0.1:1"
    answer = client.get("/sign-on/?next=/groups/")
    assert (answer.status_code, answer.headers["Retry-After"], sentence(answer)) == (
        503,
        "60",
        "Could not sign in: 127.0.0.1:1 does not answer. Try again later.",
    )


def test_who_could_not_sign_in_may_try_again_or_use_a_password(
    client: Client, provider: OidcProvider, settings: Any
) -> None:
    settings.CONSUMERSCOPE_OIDC_ISSUER = "http://127.0.0.1:1"
    page = client.get("/sign-on/?next=/groups/").text
    assert 'href="/sign-on/?next=%2Fgroups%2F"' in page
    assert '<form method="post" action="/login/">' in page
    assert '<input type="hidden" name="next" value="/groups/">' in page


def test_another_language_does_not_send_the_answer_again(client: Client, provider: OidcProvider) -> None:
    page = sign_on(client, provider, "/groups/", groups=[]).text
    assert '<input type="hidden" name="next" value="/login/">' in page


@pytest.mark.usefixtures("provider")
def test_the_reason_is_said_in_the_reader_s_language(client: Client, settings: Any) -> None:
    settings.CONSUMERSCOPE_OIDC_ISSUER = "http://127.0.0.1:1"
    answer = client.get("/sign-on/", headers={"Accept-Language": "zh-CN"})
    assert sentence(answer) == "无法登录：127.0.0.1:1 没有响应。请稍后重试。"


def test_a_key_that_is_not_published_yet_is_said(client: Client, provider: OidcProvider) -> None:
    keys = provider.usual()[KEYS]["keys"]
    provider.answers[KEYS] = (200, {"keys": [keys[0] | {"kid": "another"}]})
    answer = sign_on(client, provider, groups=["sre"])
    assert (answer.status_code, "does not publish the key" in sentence(answer)) == (403, True)


@pytest.mark.parametrize(
    ("place", "issuer", "safe"),
    [
        ("http://sso.example.org/token", "https://sso.example.org", False),
        ("https://sso.example.org/token", "https://sso.example.org", True),
        ("http://127.0.0.1:9000/token", "http://127.0.0.1:9000", True),
        ("file:///etc/token", "http://127.0.0.1:9000", False),
    ],
)
def test_endpoints_without_encryption_are_refused_where_the_issuer_has_it(place: str, issuer: str, safe: bool) -> None:
    assert is_as_safe(place, issuer) is safe


@pytest.mark.parametrize(
    ("error", "status", "why"),
    [
        ("access_denied", 403, "the provider denied access"),
        ("temporarily_unavailable", 503, "does not answer. Try again later."),
        ("invalid_scope", 403, "check the client there"),
        ("<script>", 403, "check the client there"),
    ],
)
def test_an_error_that_the_provider_sends_back_is_said(
    client: Client, provider: OidcProvider, error: str, status: int, why: str
) -> None:
    asked = begun(client)
    answer = client.get("/sign-on/callback/", {"error": error, "state": asked["state"]})
    assert (answer.status_code, "<script>" in answer.text) == (status, False)
    assert why in sentence(answer)


@pytest.mark.parametrize("query", [{"code": "code", "state": "made-up"}, {"error": "access_denied"}, {}])
def test_an_answer_that_nobody_asked_for_changes_nothing(
    client: Client, provider: OidcProvider, query: dict[str, str]
) -> None:
    sign_on(client, provider, groups=["sre"])
    answer = client.get("/sign-on/callback/", query)
    assert (answer.status_code, client.get("/groups/").status_code) == (403, 200)


def test_an_answer_is_taken_once(client: Client, provider: OidcProvider) -> None:
    asked = begun(client)
    provider.nonce, provider.claims = asked["nonce"], {"groups": ["others"]}
    query = {"code": "code", "state": asked["state"]}
    client.get("/sign-on/callback/", query)
    assert "did not begin in this browser" in sentence(client.get("/sign-on/callback/", query))


def test_a_refusal_is_logged_without_secrets(
    client: Client, provider: OidcProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    provider.answers[TOKEN] = (401, {"error": "invalid_client", "error_description": "secret"})
    sign_on(client, provider, groups=["sre"])
    [line] = [record.getMessage() for record in caplog.records if record.name.startswith("dashboard")]
    assert line.startswith("Sign-on refused with 403")
    assert "error_description" not in line
