"""What the environment says of who may come in."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

import dashboard.settings.security as read


def settings_of(monkeypatch: pytest.MonkeyPatch, **environment: str) -> Any:
    """The settings, read once more."""
    for name in ("CONSUMERSCOPE_HTTPS", "CONSUMERSCOPE_HSTS_SECONDS", "CONSUMERSCOPE_TRUSTED_PROXIES"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    found = importlib.util.spec_from_file_location("dashboard.settings.security_once_more", Path(read.__file__))
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, 0),
        ({"CONSUMERSCOPE_HSTS_SECONDS": "600"}, 0),
        ({"CONSUMERSCOPE_HTTPS": "1"}, 31536000),
        ({"CONSUMERSCOPE_HTTPS": "1", "CONSUMERSCOPE_HSTS_SECONDS": "600"}, 600),
        ({"CONSUMERSCOPE_HTTPS": "1", "CONSUMERSCOPE_HSTS_SECONDS": "0"}, 0),
    ],
)
def test_browsers_stay_with_https_where_it_is_on(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], seconds: int
) -> None:
    assert seconds == settings_of(monkeypatch, **environment).SECURE_HSTS_SECONDS


def test_no_proxy_is_trusted_unless_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings_of(monkeypatch).CONSUMERSCOPE_TRUSTED_PROXIES == []
    named = settings_of(monkeypatch, CONSUMERSCOPE_TRUSTED_PROXIES="10.0.0.5, fd00::/8").CONSUMERSCOPE_TRUSTED_PROXIES
    assert [str(network) for network in named] == ["10.0.0.5/32", "fd00::/8"]


def test_what_is_no_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match="CONSUMERSCOPE_TRUSTED_PROXIES must be networks as"):
        settings_of(monkeypatch, CONSUMERSCOPE_TRUSTED_PROXIES="proxy.example.org")
