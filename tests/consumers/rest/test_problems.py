"""Every error is a problem document: those too that no resource has answered."""

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"


def asked(api, case):
    method, path, options = case
    return getattr(api, method)(path, **options)


@pytest.mark.parametrize(
    ("code", "case"),
    [
        (400, ("get", "/api/v1/groups/", {"data": {"odd": 1}})),
        (400, ("post", "/api/v1/resets/", {"data": "{", "content_type": "application/json"})),
        (404, ("get", "/api/v1/nothing/", {})),
        (404, ("get", "/api/v1/groups/prod/nobody/", {})),
        (404, ("get", "/api/v1/resets/not-an-id/", {})),
        (405, ("put", "/api/v1/groups/", {})),
        (406, ("get", "/api/v1/groups/", {"headers": {"accept": "application/xml"}})),
        (415, ("post", "/api/v1/resets/", {"data": "a=b", "content_type": "application/x-www-form-urlencoded"})),
    ],
)
def test_it_has_type_title_status_and_detail(operator_api, code, case):
    answer = asked(operator_api, case)
    problem = answer.json()
    assert (answer.status_code, answer["Content-Type"], problem["status"]) == (code, PROBLEM, code)
    assert problem["type"] == "about:blank"
    assert problem["title"]
    assert problem["detail"]


def test_a_wrong_method_says_which_are_right(api):
    assert api.delete("/api/v1/groups/")["Allow"] == "GET, HEAD, OPTIONS"


def test_a_body_that_is_too_long_is_one(operator_api, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    answer = operator_api.post("/api/v1/resets/", {"cluster": "prod", "group": "billing"}, "application/json")
    assert (answer.status_code, answer["Content-Type"], answer.json()["title"]) == (413, PROBLEM, answer.reason_phrase)


def test_a_host_that_this_site_does_not_have_is_one(api, settings):
    settings.ALLOWED_HOSTS = ["consumers.example.org"]
    answer = api.get("/api/v1/groups/", headers={"host": "evil.example.org"})
    assert (answer.status_code, answer["Content-Type"]) == (400, PROBLEM)


def test_an_error_of_the_site_is_one_that_says_nothing_of_its_inside(api, monkeypatch, caplog):
    def fails(*_arguments: object) -> None:
        raise RuntimeError("the inside")

    monkeypatch.setattr("django.db.models.query.QuerySet.count", fails)
    api.raise_request_exception = False
    answer = api.get("/api/v1/groups/")
    assert (answer.status_code, answer["Content-Type"]) == (500, PROBLEM)
    assert "the inside" not in answer.content.decode()
    assert "the inside" in caplog.text


def test_a_database_that_does_not_answer_is_one_that_may_be_asked_again(api, caplog):
    def refuses(*_arguments):
        raise OperationalError("server closed the connection") from psycopg.OperationalError("connection refused")

    api.raise_request_exception = False
    with connection.execute_wrapper(refuses):
        answer = api.get("/api/v1/groups/")
    assert (answer.status_code, answer["Content-Type"]) == (503, PROBLEM)
    assert answer.json()["detail"] == "The database does not answer: try again."
    assert "connection refused" in caplog.text


def test_pages_still_answer_with_pages():
    answer = Client().get("/nothing-here/")
    assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8")
