"""While the database does not answer, no address fails, nor answers as if it knew: it says so."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection

from tests.access.addresses import every_address
from tests.access.conftest import Site, World

# Who asks is known still: the database goes away just then.
OF_WHO_ASKS = ("django_session", "auth_", "consumers_apitoken")
# What they say is not in the database; or that it is away is one thing of many that they say.
SAYS_ITS_OWN = ["/api/docs/", "/api/schema/", "/api/v1/nothing/", "/favicon.ico", "/healthz", "/login/", "/readyz"]
# Of nothing typed there are none.
SAYS_ITS_OWN += ["/search/suggestions/"]


def goes_away(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
    if any(table in sql for table in OF_WHO_ASKS):
        return execute(sql, *rest)
    raise OperationalError("server closed the connection") from psycopg.OperationalError("connection refused")


@pytest.fixture(autouse=True)
def _what_is_meant_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "django.request")


def test_every_address_says_that_the_database_is_away(world: World) -> None:
    site, others = Site(), {}
    for address in every_address():
        if not address.route.startswith("/admin/"):
            path = address.path()
            with connection.execute_wrapper(goes_away):
                answer = site.answer(world.askers["admin"].request("GET", path))
            if answer.status_code != 405 and (answer.status_code, answer.headers.get("Retry-After")) != (503, "5"):
                others[path] = answer.status_code
    assert sorted(others) == SAYS_ITS_OWN
    assert 500 not in others.values()
