"""How often one may ask."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from consumers.models import ApiToken, ConsumerGroup
from consumers.models.site import token_digest
from tests.world import NOW, a_cluster, a_group

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
GROUPS = "/api/v1/groups/"


@pytest.fixture(autouse=True)
def _three_requests_a_minute(settings, tmp_path):
    settings.API_RATE = 3
    settings.REDIS_URL = f"unix://{tmp_path / 'nobody-listens.sock'}"


def codes(client, number):
    return [client.get(GROUPS).status_code for _ in range(number)]


def test_who_asks_more_often_is_told_to_wait(api):
    assert codes(api, 4) == [200, 200, 200, 429]


def test_the_refusal_is_a_problem_that_says_when_to_ask_again(api):
    codes(api, 3)
    answer = api.get(GROUPS)
    assert (answer["Content-Type"], answer["Retry-After"]) == ("application/problem+json", "60")
    assert answer.json()["detail"] == "More than 3 requests in a minute. Try again in 60 s."


def test_every_answer_says_how_many_are_left(api):
    with time_machine.travel(NOW + timedelta(seconds=18), tick=False):
        answer = api.get(GROUPS)
    assert (answer["RateLimit-Policy"], answer["RateLimit"]) == ('"minute";q=3;w=60', '"minute";r=2;t=42')


def test_the_next_minute_begins_anew(api):
    codes(api, 4)
    with time_machine.travel(NOW + timedelta(seconds=60), tick=False):
        assert codes(api, 1) == [200]


def test_each_token_counts_for_itself(api, api_user):
    codes(api, 4)
    ApiToken.objects.create(user=api_user, name="other", digest=token_digest("other"), created_at=NOW)
    assert codes(Client(headers={"authorization": "Token other"}), 1) == [200]


def test_a_session_counts_for_its_user(api_user, client):
    client.force_login(api_user)
    assert codes(client, 4)[-1] == 429


def test_whoever_is_let_in_nowhere_uses_up_nothing(api):
    codes(Client(), 5)
    assert codes(api, 1) == [200]


@pytest.mark.parametrize(("rows", "left"), [(100, 997), (300, 995), (1_000, 988)])
def test_an_answer_of_many_rows_counts_for_several_requests(api, settings, rows, left):
    settings.API_RATE = 1_000
    cluster = a_cluster()
    ConsumerGroup.objects.bulk_create(
        ConsumerGroup(cluster=cluster, name=f"group-{number}", kind="user", first_seen_at=NOW) for number in range(rows)
    )
    codes(api, 1)
    api.get(GROUPS, {"page_size": 100})
    assert api.get(GROUPS, {"page_size": 1_000})["RateLimit"] == f'"minute";r={left};t=60'


def test_a_long_history_counts_for_several_requests_and_never_for_less_than_are_left(api):
    a_group(a_cluster())
    week = {"from": "2026-03-07T03:00:00Z", "to": "2026-03-14T03:00:00Z", "step": "60"}
    answer = api.get("/api/v1/groups/prod/billing/history/", week)
    assert (answer.status_code, answer["RateLimit"]) == (200, '"minute";r=0;t=60')
    assert codes(api, 1) == [429]


def test_a_scrape_is_never_refused(api):
    a_cluster()
    assert {api.get("/metrics").status_code for _ in range(5)} == {200}


def test_nothing_is_counted_where_it_is_switched_off(api, settings):
    settings.API_RATE = 0
    assert codes(api, 5) == [200] * 5
    assert "RateLimit" not in api.get(GROUPS)
