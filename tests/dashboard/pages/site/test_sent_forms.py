"""A form that was sent in vain leads back to its page, and says that nothing was done."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db
ACT = "/alerts/channels/1001/test/"


@pytest.fixture
def vera() -> User:
    return User.objects.create_user("vera", password="a secret")


def test_an_address_of_forms_is_no_empty_page(client: Client, vera: User) -> None:
    client.force_login(vera)
    answer = client.get(ACT)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"
    assert "This address only takes what a form sends: nothing was done." in answer.text
    assert '<nav class="rail"' in answer.text


def logged_in_after(client: Client, sent_from: str) -> str:
    """Where the login leads whoever sent a form without a session."""
    led = client.post(ACT, headers={"Referer": sent_from})
    assert "Log in to see this page." in client.get(led.headers["Location"]).text
    (page,) = parse_qs(urlsplit(led.headers["Location"]).query)["next"]
    answer = client.post("/login/", {"username": "vera", "password": "a secret", "next": page})
    return answer.headers["Location"]


def test_a_login_leads_back_to_the_page_of_the_form_which_says_that_nothing_was_done(
    client: Client, vera: User
) -> None:
    address = logged_in_after(client, "http://testserver/alerts/channels/?page=2")
    assert address == "/alerts/channels/?page=2"
    assert "You were logged out before you sent this: nothing was done. Send it again." in client.get("/states/").text


@pytest.mark.parametrize("sent_from", ["", "http://elsewhere.example/alerts/channels/", "javascript:alert(1)"])
def test_without_a_page_of_the_site_it_leads_to_the_overview(client: Client, vera: User, sent_from: str) -> None:
    assert logged_in_after(client, sent_from) == "/"


@pytest.mark.parametrize(
    ("cookies", "headers", "sentence"),
    [
        (False, {}, "Your browser sent no cookie with this form"),
        (True, {}, "This form is from another session: nothing was done."),
        (True, {"Origin": "https://proxy.example"}, "lists the address in CONSUMERSCOPE_TRUSTED_ORIGINS"),
    ],
)
def test_a_form_that_cannot_be_trusted_says_why(
    vera: User, cookies: bool, headers: dict[str, str], sentence: str
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(vera)
    if cookies:
        client.get("/states/")
    answer = client.post(ACT, headers=headers)
    assert answer.status_code == 403
    assert sentence in answer.text
    assert '<nav class="rail"' in answer.text
