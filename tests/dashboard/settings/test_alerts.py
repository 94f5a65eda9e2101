"""What the environment says of alerts."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

import dashboard.settings.alerts as read

NETWORKS, URL, MAIL = "CONSUMERSCOPE_ALERT_NETWORKS", "CONSUMERSCOPE_URL", "CONSUMERSCOPE_EMAIL_URL"
FROM = "CONSUMERSCOPE_EMAIL_FROM"


def settings_of(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Any:
    """The settings, read once more."""
    for name in (NETWORKS, URL, MAIL, FROM):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = importlib.util.spec_from_file_location("dashboard.settings.alerts_once_more", Path(read.__file__))
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        (NETWORKS, "10.0.0.0/99", "must be networks as 10.0.0.0/8"),
        (NETWORKS, "10.0.0.1/8", "has host bits set"),
        (NETWORKS, "10.0.0.0/8;fd00::/8", "must be networks as"),
        (URL, "consumerscope.example.org", "must be as https://"),
        (URL, "https://", "must be as https://"),
        (URL, "https://scope.example.org/?x=1", "must be as https://"),
        (URL, "https://scope.example.org:x", "must be as https://"),
        *(
            (MAIL, value, "must be smtp://user:password@host:port")
            for value in (
                "mail.example.org:25",
                "http://mail",
                "smtp://",
                "smtp://h:port",
                "smtp://h:99999",
                "smtp://h:",
            )
        ),
        (MAIL, "smtp://user:canary@[::1", "must be smtp://"),
        (FROM, "nobody", "must be an address"),
        ("ALERT_DELIVERY_SECONDS", "0", "at least 0.1"),
        ("ALERT_DELIVERY_HOURS", "-1", "at least 0"),
        ("ALERT_NAMED_IN_MESSAGE", "many", "must be a number"),
    ],
)
def test_a_value_that_makes_no_sense_stops_the_program_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=sentence) as refused:
        settings_of(monkeypatch, **{name: value})
    assert name in str(refused.value)
    assert "canary" not in str(refused.value)
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("url", "host", "port", "user", "password", "ssl", "starttls"),
    [
        ("smtp://mail.example.org", "mail.example.org", 25, "", "", False, False),
        ("smtp://mail:587?starttls=1", "mail", 587, "", "", False, True),
        ("smtps://ann:p%40ss%2F@mail", "mail", 465, "ann", "p@ss/", True, False),
        ("smtp://[::1]", "::1", 25, "", "", False, False),
        ("smtp://[::1]:2525", "::1", 2525, "", "", False, False),
    ],
)
def test_a_mail_server_is_read_from_its_url(
    monkeypatch: pytest.MonkeyPatch, url: str, host: str, port: int, user: str, password: str, ssl: bool, starttls: bool
) -> None:
    found = settings_of(monkeypatch, **{MAIL: url})
    assert (host, port) == (found.EMAIL_HOST, found.EMAIL_PORT)
    assert (user, password) == (found.EMAIL_HOST_USER, found.EMAIL_HOST_PASSWORD)
    assert (ssl, starttls) == (found.EMAIL_USE_SSL, found.EMAIL_USE_TLS)


def test_nothing_that_is_said_is_nothing_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    found = settings_of(monkeypatch)
    assert (found.CONSUMERSCOPE_ALERT_NETWORKS, found.CONSUMERSCOPE_URL) == ([], "")
    assert (found.CONSUMERSCOPE_EMAIL_URL, hasattr(found, "EMAIL_HOST")) == ("", False)


def test_networks_and_the_own_address_are_kept_as_they_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {NETWORKS: "10.0.0.0/8, fd00::/8", URL: "https://scope.example.org/", FROM: "Scope <a@example.org>"}
    found = settings_of(monkeypatch, **said)
    assert [str(network) for network in found.CONSUMERSCOPE_ALERT_NETWORKS] == ["10.0.0.0/8", "fd00::/8"]
    assert (found.CONSUMERSCOPE_URL, found.DEFAULT_FROM_EMAIL) == ("https://scope.example.org", "Scope <a@example.org>")
