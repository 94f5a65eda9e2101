"""The top bar offers a time range and a cluster where they change what a page shows."""

import pytest
from django.test import Client

from dashboard.page_urls import urlpatterns
from dashboard.pages.common.bar import OF_ALL_TIMES
from tests.world import a_cluster

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/groups/", (True, True)),
        ("/findings/", (False, True)),
        ("/account/tokens/", (False, False)),
        ("/alerts/rules/add/", (False, False)),
    ],
)
def test_it_has_the_choices_that_change_the_page(admin_client: Client, path: str, expected: tuple[bool, bool]) -> None:
    a_cluster()
    page = admin_client.get(path).text
    assert ('aria-label="Time range"' in page, 'id="menu-cluster"' in page) == expected


def test_every_page_that_it_knows_is_there() -> None:
    assert {route.name for route in urlpatterns} >= OF_ALL_TIMES
