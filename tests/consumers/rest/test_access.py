"""Who may read, and what is not there."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from consumers.models import ApiToken
from tests.world import NOW, a_cluster

pytestmark = pytest.mark.django_db
NOT_BUILT = ["/api/v1/", "/api/v1/producers/"]
PATHS = ["/api/v1/clusters/", "/api/v1/groups/", "/api/v1/groups/prod/billing/", "/api/schema/", "/api/docs/"]


@pytest.mark.parametrize("path", PATHS)
def test_it_lets_in_nobody_without_a_token_or_session(path):
    answer = Client().get(path)
    assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Token")


def test_it_answers_a_problem_to_whoever_is_not_let_in():
    answer = Client().get("/api/v1/groups/")
    assert answer["Content-Type"] == "application/problem+json"
    assert (answer.json()["title"], answer.json()["status"]) == ("Unauthorized", 401)


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("Token unknown", "Unknown token."),
        ("Token two words", "without spaces in it"),
        ("Bearer unknown", "Unknown token."),
        ("Basic a-token-of-a-test", "Authentication credentials were not provided."),
    ],
)
def test_it_says_why_a_token_does_not_let_in(api, header, sentence):
    answer = Client(headers={"authorization": header}).get("/api/v1/groups/")
    assert answer.status_code == 401
    assert sentence in answer.json()["detail"]


def test_it_lets_in_a_token_until_it_expires(api):
    ApiToken.objects.update(expires_at=NOW)
    with time_machine.travel(NOW - timedelta(seconds=1), tick=False):
        assert api.get("/api/v1/groups/").status_code == 200
    with time_machine.travel(NOW, tick=False):
        assert api.get("/api/v1/groups/").status_code == 401


def test_it_notes_when_a_token_was_last_used(api):
    with time_machine.travel(NOW, tick=False):
        api.get("/api/v1/groups/")
    assert ApiToken.objects.get().last_used_at == NOW


def test_it_lets_in_nobody_who_is_not_active(api, api_user):
    api_user.is_active = False
    api_user.save()
    assert api.get("/api/v1/groups/").status_code == 401


def test_it_lets_in_a_session(api_user, client):
    client.force_login(api_user)
    assert client.get("/api/v1/groups/").status_code == 200


@pytest.mark.parametrize("path", NOT_BUILT)
def test_it_has_no_path_that_is_not_built(api, path):
    a_cluster()
    answer = api.get(path)
    assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")
    assert path in answer.json()["detail"]


def test_it_sends_a_path_without_its_slash_on(api):
    answer = api.get("/api/v1/groups")
    assert (answer.status_code, answer["Location"]) == (301, "/api/v1/groups/")
