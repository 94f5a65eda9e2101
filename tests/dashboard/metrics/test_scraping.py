"""Who may scrape, and in which format the answer comes."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.exposition_parser import parsed

pytestmark = pytest.mark.django_db
TEXT, OPEN_METRICS = "text/plain; version=0.0.4", "application/openmetrics-text; version=1.0.0"
PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
    "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)
PROMETHEUS_3 = (
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;"
    "q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
)


def test_it_lets_in_nobody_without_a_token_or_session() -> None:
    answer = Client().get("/metrics", headers={"accept": PROMETHEUS})
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Token")
    assert answer["Content-Type"] == "application/problem+json"


def test_it_lets_in_a_session(api_user: User) -> None:
    client = Client()
    client.force_login(api_user)
    assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize(
    ("accept", "format"),
    [
        (None, TEXT),
        ("*/*", TEXT),
        (PROMETHEUS, OPEN_METRICS),
        ("application/openmetrics-text", OPEN_METRICS),
        ("application/openmetrics-text;q=0.2, text/plain;q=0.9", TEXT),
        ("application/openmetrics-text; version=1.0.0; charset=utf-8", OPEN_METRICS),
        (PROMETHEUS_3, OPEN_METRICS),
        ("text/plain; version=0.0.4; charset=utf-8, application/openmetrics-text; q=0.5", TEXT),
        ("application/openmetrics-text; version=2.0.0, text/plain; q=0.1", TEXT),
        ("application/openmetrics-text; q=0.1, */*", TEXT),
        ("text/*; q=0.1, application/*; q=0.2", OPEN_METRICS),
        ("application/openmetrics-text; q=0", TEXT),
        ("application/openmetrics-text; q=much", TEXT),
        ("application/json", TEXT),
        ("nonsense", TEXT),
    ],
)
def test_it_answers_in_the_format_that_is_wanted_most(api: Client, accept: str | None, format: str) -> None:
    answer = api.get("/metrics", headers={"accept": accept} if accept else {})
    assert answer.status_code == 200
    assert answer["Content-Type"] == f"{format}; charset=utf-8"
    assert "no-store" in answer["Cache-Control"]
    body = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    parsed(body, open_metrics=format == OPEN_METRICS)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_it_only_reads(api: Client, method: str) -> None:
    assert getattr(api, method)("/metrics").status_code == 405
