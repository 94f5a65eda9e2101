from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import User
from django.test import Client

from tests.reset_rows import logged_in
from tests.world import NOW


@pytest.fixture
def admin_client(db: None) -> Client:
    """A client that is logged in as staff; without a password, whose hash takes longer than a page."""
    client = Client()
    client.force_login(User.objects.create(username="ada", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def operator(db: None) -> Client:
    return logged_in("operator")


@pytest.fixture
def viewer(db: None) -> Client:
    return logged_in("viewer")


@pytest.fixture(autouse=True)
def _stopped_clock() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture(autouse=True)
def _empty_lake(settings: Any, tmp_path: Path) -> None:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
