"""The page of a group's dead letters: what it lists, how it is filtered, and what it says where nothing is known."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from consumers.dead_letters.tasks import ask_for_dead_letters
from consumers.models import ConsumerGroup, DeadLetterLook
from tests.dead_letter_rows import MINUTE_AGO, a_letter, a_look, a_resend, an_item
from tests.world import NOW, a_cluster, a_group, a_total, ago

pytestmark = pytest.mark.django_db
URL, PART, READ = "/groups/prod/billing/dlq/", "/parts/groups/prod/billing/dlq/", "/groups/prod/billing/dlq/read/"


@pytest.fixture
def billing() -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def three(billing: ConsumerGroup) -> ConsumerGroup:
    for offset in (1, 2, 3):
        a_letter(billing, offset, stored_at=MINUTE_AGO + timedelta(seconds=offset))
    a_look(billing, 1, 4)
    a_total(billing, 0, dlq_messages=3)
    return billing


def as_role(role: str) -> Client:
    user = User.objects.create(username=f"an-{role}")
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client


def text(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def places(html: str) -> list[str]:
    return re.findall(r"<td[^>]*><code>([^<]+)</code></td>", html)


def chosen(html: str) -> list[str]:
    return re.findall(r'name="message" value="([^"]+)"', html)


@pytest.mark.usefixtures("three")
def test_it_lists_the_newest_first_each_with_its_own_page(admin_client: Client) -> None:
    html = admin_client.get(URL).text
    assert places(html) == ["broker-a/0/3", "broker-a/0/2", "broker-a/0/1"]
    assert '<a href="/groups/prod/billing/dlq/broker-a/0/3/" title="UNIQ-3"><code>UNIQ-3</code></a>' in html
    assert "1–3 of 3" in text(html)


@pytest.mark.parametrize(
    ("query", "offsets"),
    [
        ({"key": "order-2"}, ["2"]),
        ({"from": "2026-03-14T02:59:02"}, ["3", "2"]),
        ({"resent": "false", "tag": "", "cluster": "prod"}, ["3", "2", "1"]),
    ],
)
@pytest.mark.usefixtures("three")
def test_the_address_filters(admin_client: Client, query: dict[str, str], offsets: list[str]) -> None:
    html = admin_client.get(URL, query).text
    assert [place.split("/")[-1] for place in places(html)] == offsets


@pytest.mark.usefixtures("three")
def test_filters_say_that_not_every_message_was_read(admin_client: Client) -> None:
    assert "No dead-letter message matches these filters." in admin_client.get(URL, {"key": "none"}).text
    DeadLetterLook.objects.update(indexed_from=2)
    assert "No dead-letter message that was read matches these filters." in admin_client.get(URL, {"key": "none"}).text


@pytest.mark.usefixtures("three")
def test_the_form_shows_what_is_filtered_by(admin_client: Client) -> None:
    html = admin_client.get(URL, {"key": '"><b>', "resent": "true"}).text
    assert 'name="key" value="&quot;&gt;&lt;b&gt;"' in html
    assert '<option value="true" selected>' in html


@pytest.mark.parametrize("query", [{"from": "noon"}, {"resent": "maybe"}, {"page": "0"}])
@pytest.mark.usefixtures("three")
def test_a_wrong_filter_is_refused_with_a_sentence(admin_client: Client, query: dict[str, str]) -> None:
    answer = admin_client.get(URL, query)
    assert answer.status_code == 400
    assert next(iter(query.values())) in text(answer.text)


@pytest.mark.usefixtures("billing")
@pytest.mark.parametrize("url", ["/groups/prod/nobody/dlq/", "/groups/test/billing/dlq/"])
def test_a_group_that_is_not_known_has_no_page(admin_client: Client, url: str) -> None:
    assert admin_client.get(url).status_code == 404


def test_pages_of_the_list_follow_one_another(admin_client: Client, billing: ConsumerGroup) -> None:
    for offset in range(51):
        a_letter(billing, offset, tags="late")
    html = admin_client.get(URL, {"tag": "late"}).text
    assert len(places(html)) == 50
    assert 'href="?tag=late&amp;page=2"' in html
    assert len(places(admin_client.get(URL, {"page": "2"}).text)) == 1
    assert len(places(admin_client.get(URL, {"page": "9"}).text)) == 1


def test_a_letter_says_how_it_was_sent_again_and_who_sent_it_to_die(
    admin_client: Client, billing: ConsumerGroup
) -> None:
    an_item(a_resend(billing, by_name="grace"), a_letter(billing, sent_by_application=True), outcome="unknown")
    said = text(admin_client.get(URL).text)
    assert "by application" in said
    assert "possibly sent 1 min ago by grace" in said


def test_what_a_letter_does_not_say_is_said(admin_client: Client, billing: ConsumerGroup) -> None:
    a_letter(billing, message_id=None, keys=None, tags=None, origin_topic=None, stored_id="STORED")
    said = text(admin_client.get(URL).text)
    assert "STORED stored ID : the producer gave the message no ID" in said.replace("&#x27;", "'")
    assert "not in the message" in said


@pytest.mark.usefixtures("three")
@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("operator", True), ("admin", True)])
def test_choosing_and_bodies_are_for_those_who_may(role: str, may: bool) -> None:
    html = as_role(role).get(URL).text
    assert chosen(html) == (places(html) if may else [])
    assert ('action="/groups/prod/billing/resends/plan/"' in html) is may
    assert ("bodies=1" in html) is may
    assert ("resend_dead_letters" in html) is not may
    assert "format=csv&amp;bodies=0" in html


@pytest.mark.usefixtures("three")
def test_all_that_match_are_sent_again_by_the_same_filter(admin_client: Client) -> None:
    html = admin_client.get(URL, {"key": "order-2", "range": "1h"}).text
    assert '<input type="hidden" name="filter" value="key=order-2">' in html
    assert "Resend all 1 matches" in text(html)


def test_an_empty_list_teaches(admin_client: Client, billing: ConsumerGroup) -> None:
    a_total(billing, 0, dlq_messages=0)
    assert "The dead-letter topic of this group is empty." in text(admin_client.get(URL).text)


def test_what_nobody_may_read_is_not_empty(admin_client: Client, billing: ConsumerGroup) -> None:
    a_look(billing, None, None, error="it can be written only")
    said = text(admin_client.get(URL).text)
    assert "Dead-letter messages are unknown: broker-a: it can be written only" in said
    assert "No message" not in said


@pytest.mark.usefixtures("three")
def test_nothing_that_matches_is_said(admin_client: Client) -> None:
    assert "No dead-letter message matches these filters." in text(admin_client.get(URL, {"key": "x"}).text)


@pytest.mark.usefixtures("three", "redis")
def test_read_now_asks_the_worker_and_shows_the_list_again(admin_client: Client) -> None:
    answer = admin_client.post(f"{READ}?key=order-2")
    assert (answer.status_code, answer["Location"]) == (302, f"{URL}?key=order-2&asked=1")
    assert "The worker is reading them" in text(admin_client.get(answer["Location"]).text)


@pytest.mark.usefixtures("redis")
def test_a_worker_that_does_not_answer_is_said_with_the_command_that_starts_one(
    admin_client: Client, three: ConsumerGroup
) -> None:
    ask_for_dead_letters(three, ago(11))
    said = text(admin_client.get(f"{PART}?asked=1").text)
    assert "No worker answered within 10 s." in said
    assert "celery -A dashboard worker" in said


@pytest.mark.usefixtures("three", "tasks_at_once")
def test_a_look_that_is_done_is_said(admin_client: Client) -> None:
    admin_client.post(READ)
    assert "Show the current list" in text(admin_client.get(f"{PART}?asked=1").text)


@pytest.mark.usefixtures("three", "redis_is_down")
def test_a_redis_that_is_down_is_said_and_the_list_still_stands(admin_client: Client) -> None:
    answer = admin_client.post(READ)
    assert answer.status_code == 503
    assert "Redis does not answer" in text(answer.text)
    assert len(places(answer.text)) == 3
    assert "Redis does not answer" in text(admin_client.get(f"{URL}?asked=1").text)


@pytest.mark.usefixtures("three", "redis_is_down")
def test_the_list_needs_no_redis(admin_client: Client) -> None:
    assert admin_client.get(URL).status_code == 200


@pytest.mark.usefixtures("three")
def test_read_now_is_for_who_is_logged_in_and_by_post_alone(client: Client, admin_client: Client) -> None:
    assert client.post(READ)["Location"].startswith("/login/")
    assert admin_client.get(READ).status_code == 405


@pytest.mark.usefixtures("three")
def test_it_says_as_of_when(admin_client: Client) -> None:
    said = text(admin_client.get(PART).text)
    assert "3 messages read just now" in said or "3 messages read 0 s ago" in said
    assert NOW.isoformat() in admin_client.get(PART).text


@pytest.mark.usefixtures("three")
def test_it_lies_under_the_tab_of_retries(admin_client: Client) -> None:
    assert re.search(r'<a id="tab-group_retries"[^>]* aria-current="page">', admin_client.get(URL).text)
