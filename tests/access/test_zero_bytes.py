"""A zero byte in an address, its query or a cookie is a mistake of whoever asks, with every database."""

import re

import pytest

from tests.access.addresses import every_address
from tests.access.conftest import Site, World

TEXT = re.compile(r"<(?:str|path):(\w+)>")
ADDRESSES = [address for address in every_address() if TEXT.search(address.route)]
ROW = {"object_id": "1", "id": "1", "content_type_id": "1"}


@pytest.fixture(autouse=True)
def _refusals_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("ERROR", "django.request")


@pytest.mark.parametrize("name", ["a\0b", "\0"])
def test_no_name_in_an_address_has_one(world: World, name: str) -> None:
    site = Site()
    paths = [address.path(**ROW | dict.fromkeys(TEXT.findall(address.route), name)) for address in ADDRESSES]
    assert len(paths) > 50
    asked = {path: world.askers["admin, staff"].request("GET", path) for path in paths}
    found = {path: site.answer(request).status_code for path, request in asked.items()}
    assert {path: status for path, status in found.items() if status not in (404, 405)} == {}


@pytest.mark.parametrize(
    "path", ["/groups/?cluster=a%00b", "/groups/prod/billing/dlq/?key=%00", "/admin/auth/user/?q=%00", "/?%00=1"]
)
def test_no_query_has_one(world: World, path: str) -> None:
    answer = Site().answer(world.askers["admin, staff"].request("GET", path))
    assert answer.status_code == 400


@pytest.mark.parametrize("path", ["/api/v1/groups/?cluster=a%00b", "/api/v1/groups/prod/billing/dlq/?key=%00"])
def test_the_api_refuses_one_as_a_wrong_parameter(world: World, path: str) -> None:
    answer = Site().answer(world.askers["admin by token"].request("GET", path))
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")


@pytest.mark.parametrize("name", ["sessionid", "theme", "device", "csrftoken"])
def test_a_cookie_that_has_one_is_none(world: World, name: str) -> None:
    request = world.askers["nobody"].request("GET", "/login/")
    request.COOKIES[name] = "aaaaaaaa\0aaaaaaaa"
    assert Site().answer(request).status_code == 200


def test_no_static_file_has_one(world: World) -> None:
    assert Site().answer(world.askers["nobody"].request("GET", "/static/css/a\0b.css")).status_code == 404
