"""What is answered while the database does not answer, to whoever asks and whatever they read."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client

from tests.reset_rows import a_reset
from tests.walk.addresses import PROD_BILLING
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"
AWAY = "The database does not answer"
FILE = f"/resets/{PROD_BILLING['reset']}/export/"


def refuses(*_arguments: Any) -> None:
    raise OperationalError("server closed the connection") from psycopg.OperationalError("connection refused")


@pytest.fixture
def reader(admin_client: Client) -> Iterator[Client]:
    """Logged in when the database goes away. What a page would show is there."""
    a_reset(a_group(a_cluster()), id=PROD_BILLING["reset"])
    admin_client.raise_request_exception = False
    with connection.execute_wrapper(refuses):
        yield admin_client


@pytest.mark.parametrize("path", ["/", "/groups/prod/billing/", "/alerts/?status=over", "/login/", "/admin/", FILE])
def test_a_page_says_so_and_where_it_is_asked_for_again(reader: Client, path: str) -> None:
    answer = reader.get(path)
    said = answer.content.decode()
    assert (answer.status_code, answer["Content-Type"]) == (503, "text/html; charset=utf-8")
    assert (answer["Retry-After"], "no-store" in answer["Cache-Control"]) == ("5", True)
    assert f"<h1>{AWAY}</h1>" in said
    assert f'<a href="{path}">Try again</a>' in said
    assert 'id="again" role="status" data-every="5"' in said


def test_it_is_as_light_or_dark_as_the_reader_chose(reader: Client) -> None:
    reader.cookies["theme"] = "dark"
    assert 'data-theme="dark"' in reader.get("/").content.decode()


def test_it_may_load_no_more_than_other_pages(reader: Client) -> None:
    assert "script-src 'self'" in reader.get("/")["Content-Security-Policy"]


def test_the_part_of_a_page_is_one_sentence_so_that_the_page_keeps_what_it_shows(reader: Client) -> None:
    answer = reader.get("/parts/overview/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert (answer["Content-Type"], answer.content) == ("text/plain; charset=utf-8", b"the database does not answer")


@pytest.mark.parametrize("path", ["/figures/prod/billing/lag/", "/api/v1/groups/", "/metrics"])
def test_what_is_no_page_is_a_problem(reader: Client, path: str) -> None:
    answer = reader.get(path, headers={"Accept": "application/json"})
    assert (answer.status_code, answer["Retry-After"], answer["Content-Type"]) == (503, "5", PROBLEM)
    assert answer.json()["detail"] == f"{AWAY}: try again."


@pytest.mark.parametrize("path", ["/alerts/silences/", "/login/", "/admin/login/"])
def test_what_was_sent_is_not_sent_again_by_itself(reader: Client, path: str) -> None:
    answer = reader.post(path, {"username": "ada", "password": "secret", "reason": "the database moves"})
    said = answer.content.decode()
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "What you sent may not have been saved" in said
    assert "js/again.js" not in said
    assert 'href="/">Go to the overview' in said


def test_a_question_that_makes_no_sense_is_no_database_that_is_away(admin_client: Client) -> None:
    def fails(*_arguments: Any) -> None:
        raise OperationalError("no such column") from sqlite3.OperationalError("no such column")

    admin_client.raise_request_exception = False
    with connection.execute_wrapper(fails):
        assert admin_client.get("/").status_code == 500
