"""Clients of the REST API."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.jobs import asking
from consumers.models import ApiToken
from consumers.models.site import token_digest
from tests.world import NOW

TOKEN = "a-token-of-a-test"


@pytest.fixture(autouse=True)
def _nobody_has_asked() -> None:
    """Else requests of all tests that stop the clock at one time fall into one window."""
    asking.of_this_process.cache_clear()


@pytest.fixture
def api_user(db: None) -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def api(api_user: User) -> Client:
    """A client with a token that does not expire."""
    made = datetime(2026, 1, 1, tzinfo=UTC)
    ApiToken.objects.create(user=api_user, name="test", digest=token_digest(TOKEN), created_at=made)
    return Client(headers={"authorization": f"Token {TOKEN}"})


@pytest.fixture
def operator_api(api: Client, api_user: User) -> Client:
    api_user.groups.add(Group.objects.get(name="operator"))
    return api


@pytest.fixture
def stopped_clock() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield
