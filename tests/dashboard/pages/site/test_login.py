"""Passwords cannot be guessed one after the other, and guessing keeps nobody else out."""

from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client

from dashboard.pages.site.login import Tries, device_cookie, device_of
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db
ADDRESSES = ["/login/", "/admin/login/"]
PASSWORD = "correct horse"
HERE, ELSEWHERE = "198.51.100.7", "203.0.113.9"


@pytest.fixture(autouse=True)
def _at_a_moment(redis_is_down: None) -> Any:
    """The window of five minutes that NOW is in began a minute before it at the least."""
    with time_machine.travel(NOW, tick=False) as moment:
        yield moment


@pytest.fixture(autouse=True)
def _limits(settings: Any) -> None:
    settings.LOGIN_WINDOW_SECONDS, settings.LOGIN_FAILURES, settings.LOGIN_ADDRESS_FAILURES = 300, 3, 6
    # Else most of the time goes into passwords.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _ann_and_bob(_limits: None) -> None:
    for name in ("ann", "bob"):
        User.objects.create_user(name, password=PASSWORD, is_staff=True)


def tried(
    name: str, password: str, *, path: str = "/login/", address: str = HERE, client: Client | None = None
) -> HttpResponseBase:
    """In a browser of its own, unless one is named."""
    said = {"username": name, "password": password, "next": "/"}
    return (client or Client()).post(path, said, REMOTE_ADDR=address)


def guessed(name: str, times: int, **more: Any) -> list[int]:
    return [tried(name, f"guess {number}", **more).status_code for number in range(times)]


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_password_is_looked_at_a_few_times_only(path: str) -> None:
    assert guessed("ann", 5, path=path) == [200, 200, 200, 429, 429]
    assert tried("ann", PASSWORD, path=path).status_code == 429


def test_both_login_pages_count_together() -> None:
    assert guessed("ann", 3, path="/admin/login/") == [200] * 3
    assert guessed("ann", 1) == [429]


def test_who_waits_is_told_how_long_and_gets_in_then() -> None:
    guessed("ann", 3)
    refused = tried("ann", PASSWORD)
    wait = int(refused.headers["Retry-After"])
    assert 0 < wait <= 300
    assert "too many failed logins. Try again in" in refused.content.decode()
    with time_machine.travel(ago(-wait), tick=False):
        assert tried("ann", PASSWORD).status_code == 302


def test_guessing_from_one_address_keeps_its_user_out_nowhere_else() -> None:
    guessed("ann", 20)
    assert tried("ann", PASSWORD, address=ELSEWHERE).status_code == 302


@pytest.mark.parametrize("path", ADDRESSES)
def test_guessing_behind_the_same_address_keeps_nobody_out_who_logged_in_there_before(path: str) -> None:
    browser = Client()
    assert tried("ann", PASSWORD, path=path, client=browser).status_code == 302
    browser.cookies["sessionid"] = ""
    guessed("ann", 20)
    guessed("bob", 20)
    assert tried("ann", PASSWORD, path=path, client=browser).status_code == 302


def test_a_known_browser_may_not_guess_either() -> None:
    browser = Client()
    tried("ann", PASSWORD, client=browser)
    browser.cookies["sessionid"] = ""
    assert guessed("ann", 4, client=browser) == [200, 200, 200, 429]


def test_a_browser_that_one_user_is_known_in_is_not_known_for_another() -> None:
    browser = Client()
    tried("bob", PASSWORD, client=browser)
    browser.cookies["sessionid"] = ""
    assert guessed("ann", 4, client=browser) == [200, 200, 200, 429]


def test_many_names_from_one_address_are_too_many() -> None:
    found = [guessed(f"user-{number}", 1)[0] for number in range(8)]
    assert found == [200] * 6 + [429] * 2


def test_a_name_that_is_refused_already_uses_nothing_up_for_the_others_of_its_address() -> None:
    guessed("ann", 20)
    assert tried("bob", PASSWORD).status_code == 302


def test_who_gets_in_does_not_count() -> None:
    for _ in range(8):
        assert tried("ann", PASSWORD).status_code == 302
    assert guessed("ann", 2) == [200, 200]
    tried("ann", PASSWORD)
    assert guessed("ann", 3) == [200, 200, 200]


def test_a_session_that_is_led_on_without_a_password_does_not_count_as_a_login() -> None:
    browser = Client()
    browser.force_login(User.objects.get(username="ann"))
    for _ in range(3):
        guessed("ann", 1, path="/admin/login/", client=browser)
        assert tried("ann", "no password is looked at", client=browser).status_code in (302, 429)
    assert tried("ann", PASSWORD, path="/admin/login/", client=browser).status_code == 429


@pytest.mark.parametrize(("name", "password"), [("", ""), ("ann", ""), ("", "guess")])
def test_a_form_that_is_not_filled_in_is_no_guess(name: str, password: str) -> None:
    assert [tried(name, password).status_code for _ in range(8)] == [200] * 8
    assert tried("ann", PASSWORD).status_code == 302


def test_looking_at_the_page_is_not_limited() -> None:
    guessed("ann", 4)
    assert [Client().get(path, REMOTE_ADDR=HERE).status_code for path in ADDRESSES] == [200, 200]


@pytest.mark.usefixtures("redis")
def test_processes_count_together() -> None:
    assert guessed("ann", 5) == [200, 200, 200, 429, 429]
    browser = Client()
    assert tried("ann", PASSWORD, address=ELSEWHERE, client=browser).status_code == 302


def test_the_cookie_of_a_known_browser_is_for_the_server_alone(settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = True
    cookie = tried("ann", PASSWORD).cookies["device"]
    assert (cookie["httponly"], cookie["secure"], cookie["samesite"]) == (True, True, "Lax")


@pytest.mark.parametrize("cookie", [None, "", "made:up"])
def test_a_browser_without_a_cookie_of_ours_is_not_known(cookie: str | None) -> None:
    assert device_of(cookie, "ann") is None


def test_a_browser_is_not_known_by_a_cookie_of_another_user_or_one_that_was_changed() -> None:
    assert device_of(device_cookie("x", "bob"), "ann") is None
    assert device_of(device_cookie("x", "ann") + "x", "ann") is None


def test_a_known_browser_is_forgotten_after_some_months() -> None:
    cookie = device_cookie("x", "ann")
    assert device_of(cookie, "ann") == "x"
    with time_machine.travel(ago(-91 * 86400), tick=False):
        assert device_of(cookie, "ann") is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:198.51.100.7", "198.51.100.7", True),
        ("198.51.100.7", "198.51.100.8", False),
        ("", "not an address", True),
    ],
)
def test_what_is_one_address(one: str, other: str, same: bool) -> None:
    assert (Tries.of("ann", one, None) == Tries.of("ann", other, None)) is same


@pytest.mark.parametrize("spelling", [" ann ", "ａｎｎ", "ann"])
def test_a_name_is_counted_as_the_form_reads_it(spelling: str) -> None:
    assert Tries.of(spelling, HERE, None) == Tries.of("ann", HERE, None)
