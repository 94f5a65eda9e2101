"""A zero byte in an address, its query or a cookie is a mistake of whoever asks, with every database."""

import re
from http.cookies import SimpleCookie
from urllib.parse import urlencode

import pytest
from django.http import HttpRequest
from django.test import RequestFactory
from drf_spectacular.generators import SchemaGenerator

from tests.access.addresses import every_address
from tests.access.conftest import Site, World
from tests.walk.addresses import PROD_BILLING

PLACE = re.compile(r"{(\w+)}")
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


def test_the_metrics_refuse_one_as_an_unknown_cluster(world: World) -> None:
    assert Site().answer(world.askers["admin by token"].request("GET", "/metrics?cluster=a%00b")).status_code == 404


# Of forms that are sent to pages: names as they have them, one that no form has, and the name of a file.
FIELDS = ["name", "reason", "comment", "q", "username", "topics", "note", "confirm", "label", "addresses", "a\0b"]


@pytest.mark.parametrize("multipart", [False, True])
def test_no_field_of_a_form_has_one(world: World, multipart: bool) -> None:
    site, found = Site(), {}
    posted = [address for address in every_address() if not address.route.startswith(("/api/", "/metrics"))]
    for address in posted:
        with world.undone():
            request = _form(world, world.path_of(address), dict.fromkeys(FIELDS, "a\0b"), multipart=multipart)
            found[address.route] = site.answer(request).status_code
    assert {path: status for path, status in found.items() if status != 400} == {}


def test_the_answer_to_a_form_names_the_field(world: World) -> None:
    answer = Site().answer(_form(world, "/login/", {"username": "ok", "reason": "a\0b"}))
    assert b"The field \xe2\x80\x9creason\xe2\x80\x9d holds a zero byte: take it out." in answer.content  # type: ignore[attr-defined]


def _form(world: World, path: str, fields: dict[str, str], *, multipart: bool = False) -> HttpRequest:
    admin = world.askers["admin, staff"]
    factory = RequestFactory()
    factory.cookies = SimpleCookie({"sessionid": admin.session})
    if multipart:
        return factory.post(path, fields)
    return factory.post(path, urlencode(fields), content_type="application/x-www-form-urlencoded")


def test_no_parameter_of_the_api_has_one(world: World) -> None:
    site, found = Site(), {}
    for path, methods in SchemaGenerator().get_schema(request=None, public=True)["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", ()):
            # `fields` is compared with an answer, and this world has no worker that gives one of all addresses.
            if parameter["in"] == "query" and parameter["name"] != "fields":
                asked = f"{PLACE.sub(lambda place: PROD_BILLING[place.group(1)], path)}?{parameter['name']}=a%00b"
                found[asked] = site.answer(world.askers["admin by token"].request("GET", asked)).status_code
    assert len(found) > 100
    assert {asked: status for asked, status in found.items() if status != 400} == {}
