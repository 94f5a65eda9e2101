"""A receiver on loopback, which channels may send to here."""

import ipaddress
from collections.abc import Iterator
from typing import Any

import pytest

from tests.http_receiver import HttpReceiver, http_receiver


@pytest.fixture
def receiver() -> Iterator[HttpReceiver]:
    with http_receiver() as one:
        yield one


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The process of Apprise starts in a second, and in many on a machine that does much else.
    monkeypatch.setattr("consumers.alerts.channels.kinds.apprise.STARTS_SECONDS", 100.0)
    settings.CONSUMERSCOPE_ALERT_NETWORKS = [ipaddress.ip_network("127.0.0.0/8")]
    settings.ALERT_DELIVERY_SECONDS = 2.0
