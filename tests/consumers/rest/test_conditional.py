"""ETags, 304, and what may be kept where."""

import pytest
from django.core.handlers.base import BaseHandler
from django.test import RequestFactory

from tests.plugins.api import TOKEN
from tests.world import a_broker, a_cluster, a_group, a_total

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]
GROUPS = "/api/v1/groups/"


@pytest.fixture
def group():
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_total(group, 4)
    return group


def test_what_the_caller_has_already_is_not_sent_again(group, api):
    etag = api.get(GROUPS)["ETag"]
    answer = api.get(GROUPS, headers={"if-none-match": etag})
    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", etag)


@pytest.mark.parametrize("form", ["{strong}", '"other", {weak}', "*"])
def test_it_knows_every_way_to_ask_for_it(group, api, form):
    weak = api.get(GROUPS)["ETag"]
    asked = form.format(weak=weak, strong=weak.removeprefix("W/"))
    assert api.get(GROUPS, headers={"if-none-match": asked}).status_code == 304


def test_what_has_changed_is_sent(group, api):
    etag = api.get(GROUPS)["ETag"]
    a_total(a_group(group.cluster, "audit"), 1)
    assert api.get(GROUPS, headers={"if-none-match": etag}).status_code == 200


def test_it_is_kept_by_the_caller_alone_who_asks_before_using_it(group, api):
    answer = api.get(GROUPS)
    assert answer["Cache-Control"] == "private, no-cache"
    assert {"Accept", "Authorization", "Cookie"} <= set(answer["Vary"].split(", "))


def test_a_304_says_the_same_of_keeping_it(group, api):
    answer = api.get(GROUPS, headers={"if-none-match": "*"})
    assert (answer["Cache-Control"], answer["Vary"]) == ("private, no-cache", api.get(GROUPS)["Vary"])


def test_head_says_what_get_would_and_sends_nothing(group, api):
    answer = api.head(GROUPS)
    assert (answer.status_code, answer.content, answer["ETag"]) == (200, b"", api.get(GROUPS)["ETag"])


def test_head_of_csv_sends_no_line(group, api):
    """Asked as a server does: Django's test client takes the body off by itself."""
    handler = BaseHandler()
    handler.load_middleware()
    asked = RequestFactory(headers={"authorization": f"Token {TOKEN}"}).head(GROUPS, {"format": "csv"})
    answer = handler.get_response(asked)
    assert (answer.status_code, b"".join(answer)) == (200, b"")


def test_a_problem_is_not_kept(group, api):
    answer = api.get(GROUPS, {"state": "BAD"}, headers={"if-none-match": "*"})
    assert (answer.status_code, answer["Cache-Control"], "ETag" in answer) == (400, "no-store", False)


def test_pages_have_none_of_it(client):
    assert "ETag" not in client.get("/login/")
