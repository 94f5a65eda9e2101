"""Whose word is taken for where a request came from, and over what."""

import ipaddress
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from dashboard.middleware import BehindProxies, client_address
from dashboard.pages.reset_plan import asker_of

PROXY, STRANGER = "10.0.0.5", "203.0.113.9"


@pytest.fixture
def trusted(settings: Any) -> None:
    settings.CONSUMERSCOPE_TRUSTED_PROXIES = [ipaddress.ip_network(text) for text in ("10.0.0.0/24", "fd00::/8")]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(
    ("connected", "forwarded", "client"),
    [
        (PROXY, "198.51.100.7", "198.51.100.7"),
        (PROXY, "198.51.100.7:51234", "198.51.100.7"),
        (PROXY, "198.51.100.7, 10.0.0.6", "198.51.100.7"),
        (PROXY, "::ffff:198.51.100.7", "198.51.100.7"),
        ("fd00::1", "[2001:db8::7]:443", "2001:db8::7"),
        ("::ffff:10.0.0.5", "198.51.100.7", "198.51.100.7"),
        # Whoever is in front of the proxy wrote the rest.
        (PROXY, "1.1.1.1, 198.51.100.7", "198.51.100.7"),
        (PROXY, "1.1.1.1, 198.51.100.7, 10.0.0.6", "198.51.100.7"),
        (PROXY, "10.0.0.7, 10.0.0.6", "10.0.0.7"),
        (PROXY, "198.51.100.7, unknown", PROXY),
        (PROXY, "198.51.100.7, unknown, 10.0.0.6", "10.0.0.6"),
        (PROXY, "", PROXY),
        (STRANGER, "198.51.100.7", STRANGER),
        ("", "198.51.100.7", ""),
    ],
)
def test_the_client_is_the_first_from_the_end_that_is_no_trusted_proxy(
    connected: str, forwarded: str, client: str
) -> None:
    assert client_address(connected, forwarded) == client


@pytest.mark.parametrize("forwarded", ["198.51.100.7", "127.0.0.1"])
def test_without_the_setting_nobody_is_believed(forwarded: str) -> None:
    assert client_address("127.0.0.1", forwarded) == "127.0.0.1"


def seen(**sent: str) -> HttpRequest:
    request = RequestFactory().get("/", **sent)  # type: ignore[arg-type]
    request.user = None  # type: ignore[assignment]
    BehindProxies(lambda _: HttpResponse())(request)
    return request


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize(("connected", "noted"), [(PROXY, "198.51.100.7"), (STRANGER, STRANGER)])
def test_the_acts_of_a_reset_have_the_clients_address(connected: str, noted: str) -> None:
    asker = asker_of(seen(REMOTE_ADDR=connected, HTTP_X_FORWARDED_FOR="198.51.100.7"))
    assert asker.address == noted


def test_a_header_that_was_not_believed_is_seen_by_nobody() -> None:
    assert "HTTP_X_FORWARDED_FOR" not in seen(REMOTE_ADDR=STRANGER, HTTP_X_FORWARDED_FOR="198.51.100.7").META


@pytest.mark.parametrize("https", [True, False])
def test_browsers_are_told_to_stay_with_https_where_people_use_it(client: Client, settings: Any, https: bool) -> None:
    """Whatever the proxy in front of it talks."""
    settings.CONSUMERSCOPE_HTTPS, settings.SECURE_HSTS_SECONDS = https, 31536000 if https else 0
    answer = client.get("/healthz", headers={"x-forwarded-proto": "http"})
    assert answer.get("Strict-Transport-Security") == ("max-age=31536000" if https else None)
    assert seen().is_secure() is https


def test_whoever_says_that_it_was_https_is_not_believed() -> None:
    assert not seen(HTTP_X_FORWARDED_PROTO="https").is_secure()
