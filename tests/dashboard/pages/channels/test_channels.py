"""Channels: listed with how each does, entered by kind, tested, removed; no secret is ever shown again."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from redis import Redis

from consumers.alerts.channels.receiver import sealed_fields
from consumers.models import Channel, Delivery
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import stored_reason
from tests.alert_pages import shown
from tests.alert_rows import a_channel, a_delivery, a_rule, an_attempt, an_incident, an_incident_event
from tests.world import a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
SECRET = "a-canary-that-nobody-sees"
WEBHOOK = {"kind": "webhook", "name": "on call", "enabled": "1", "url": "https://hooks.example.org/x", "secret": SECRET}
MAIL = {"kind": "email", "name": "mail", "enabled": "1", "recipients": "ann@example.org\r\neve@example.org"}


def told(channel: Channel) -> dict[str, Any]:
    return sealed_fields(channel, settings.SECRET_KEY)


def made(operator: Client, **said: str) -> Channel:
    answer = operator.post("/alerts/channels/add/", WEBHOOK | said)
    assert answer.status_code == 302, shown(answer)
    return Channel.objects.get(name=(WEBHOOK | said)["name"])


def at(channel: Channel, act: str = "") -> str:
    return f"/alerts/channels/{channel.pk}/{act}"


def test_the_list_says_where_each_goes_and_how_it_does(viewer: Client) -> None:
    channel = a_channel(severities=["critical"], tells_resolved=False)
    a_delivery(channel, status="failed", error="410 Gone")
    read = shown(viewer.get("/alerts/channels/"))
    assert (
        "on call webhook https://hooks.example.org critical: everything not notified when resolved "
        "not delivered 5 min ago" in read
    )
    assert "410 Gone none" in read


def test_a_refusal_is_shown_in_the_language_of_the_page_until_something_arrives(viewer: Client) -> None:
    refused = stored_reason(DeliveryResult.REFUSED, said="410 Gone")
    channel = a_channel(failures=3, failing_since=ago(60), failing_why=refused)
    a_delivery(channel, status="failed", error=refused)
    for path in ("/alerts/channels/", at(channel)):
        assert "refused (410 Gone)" in shown(viewer.get(path))
        assert "已拒绝（410 Gone）" in shown(viewer.get(path, headers={"accept-language": "zh-hans"}))
    Channel.objects.update(failures=0, failing_since=None, failing_why=None)
    Delivery.objects.update(status="sent", error=None)
    assert "refused" not in shown(viewer.get("/alerts/channels/"))


def test_an_empty_list_teaches(operator: Client) -> None:
    page = operator.get("/alerts/channels/")
    assert "No channels yet" in shown(page)
    assert 'href="/alerts/channels/add/?kind=apprise"' in page.text


def test_severities_to_choose_are_in_the_language_of_the_page(operator: Client) -> None:
    form = operator.get("/alerts/channels/add/", headers={"accept-language": "zh-hans"}).text
    assert 'value="critical"> 严重</label>' in form


def test_a_webhook_is_added(operator: Client) -> None:
    rule = a_rule()
    channel = made(
        operator, headers="X-Team: payments", labels="team=payments", rules=str(rule.pk), severities="critical"
    )
    assert (channel.target, channel.labels, channel.enabled) == (
        "https://hooks.example.org",
        {"team": "payments"},
        True,
    )
    assert (channel.severities, list(channel.rules.all())) == (["critical"], [rule])
    assert not channel.tells_resolved
    assert told(channel)["headers"] == {"X-Team": "payments"}


@pytest.mark.parametrize(
    ("said", "target"),
    [
        (MAIL, "ann@example.org, eve@example.org"),
        ({"kind": "alertmanager", "name": "am", "url": "http://am.example.org:9093"}, "http://am.example.org:9093"),
    ],
)
def test_other_kinds_are_added(operator: Client, said: dict[str, str], target: str) -> None:
    assert operator.post("/alerts/channels/add/", said).status_code == 302
    assert Channel.objects.get().target == target


def test_no_page_shows_a_secret_and_an_empty_field_keeps_it(operator: Client) -> None:
    channel = made(operator)
    page = operator.get(at(channel)).text
    assert SECRET not in page
    assert "/x" not in page
    assert "set, hidden; leave empty to keep the value" in page
    kept = {name: value for name, value in WEBHOOK.items() if name not in ("url", "secret")}
    assert operator.post(at(channel), kept | {"name": "renamed"}).status_code == 302
    channel.refresh_from_db()
    assert (channel.name, told(channel)["secret"]) == ("renamed", SECRET)


def test_what_was_typed_wrongly_does_not_give_a_secret_back(operator: Client) -> None:
    answer = operator.post("/alerts/channels/add/", WEBHOOK | {"url": "ftp://hooks.example.org", "headers": SECRET})
    assert answer.status_code == 400
    assert SECRET not in answer.text
    assert '<a href="#field-headers">' in answer.text


def test_a_form_that_is_shown_again_says_which_secrets_are_to_be_typed_again(operator: Client) -> None:
    again = "Enter the value again: the previous input is not shown."
    page = operator.post("/alerts/channels/add/", WEBHOOK | {"url": "", "headers": "X-Team: payments"}).text
    assert f'<span class="silent" id="error-secret">{again}</span>' in page
    assert f'<span class="silent" id="error-headers">{again}</span>' in page
    assert again not in operator.post("/alerts/channels/add/", WEBHOOK | {"secret": ""}).text


def test_headers_are_taken_away_when_that_is_said(operator: Client) -> None:
    channel = made(operator, headers="X-Team: payments")
    operator.post(at(channel), {"kind": "webhook", "name": "on call", "forget": "headers"})
    channel.refresh_from_db()
    assert told(channel)["headers"] == {}


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"name": ""}, "name"),
        ({"url": ""}, "url"),
        ({"secret": "short"}, "secret"),
        ({"labels": "payments"}, "labels"),
        ({"rules": "x"}, "rules"),
        ({"group_pattern": "a[b]"}, "group_pattern"),
    ],
)
def test_what_is_wrong_is_said_by_its_field(operator: Client, said: dict[str, str], field: str) -> None:
    a_rule()
    answer = operator.post("/alerts/channels/add/", WEBHOOK | said)
    assert answer.status_code == 400
    assert f'<a href="#field-{field}">' in answer.text
    assert f'id="field-{field}"' in answer.text
    assert not Channel.objects.exists()


def test_templates_are_tried_on_the_newest_incident_without_keeping_them(operator: Client) -> None:
    incident = an_incident(a_rule(), a_group(a_cluster()))
    an_incident_event(incident)
    answer = operator.post("/alerts/channels/add/", MAIL | {"look": "1", "title_template": "now: {{ rule.name }}"})
    assert answer.status_code == 200
    assert "Example: the last incident that fired" in shown(answer)
    assert "<b>now: Far behind</b>\n" in answer.text
    assert not Channel.objects.exists()


def test_a_template_that_fails_says_why(operator: Client) -> None:
    answer = operator.post("/alerts/channels/add/", MAIL | {"look": "1", "body_template": "{% include 'x' %}"})
    assert "Could not read the template" in shown(answer)
    assert "Example: a test, because nothing has fired yet" in shown(answer)


def test_what_is_wrong_is_said_in_the_language_of_the_page(operator: Client) -> None:
    chinese = {"accept-language": "zh-hans"}
    path = "/alerts/channels/add/"
    looked = operator.post(path, MAIL | {"look": "1", "title_template": "{% if %}"}, headers=chinese)
    assert "无法解析模板：Unexpected end of expression" in shown(looked)
    refused = operator.post(path, WEBHOOK | {"url": "ftp://hooks.example.org/"}, headers=chinese)
    assert "渠道的 URL 须以 https:// 或 http:// 开头。" in shown(refused)


def test_a_test_waits_in_the_log_and_a_worker_is_told(operator: Client, redis: Redis) -> None:
    channel = made(operator)
    answer = operator.post(at(channel, "test/"))
    assert (answer.status_code, answer["Location"]) == (302, f"{at(channel)}#messages")
    assert Delivery.objects.get().is_test
    assert redis.llen("alerts") == 1
    assert "1 notification waits." in shown(operator.get(at(channel, "part/")))


@pytest.mark.usefixtures("redis_is_down")
def test_a_test_waits_for_the_next_round_where_redis_is_down(operator: Client) -> None:
    assert operator.post(at(made(operator), "test/")).status_code == 302
    assert Delivery.objects.get().status == "waiting"


def test_the_log_tells_every_try(viewer: Client) -> None:
    channel = a_channel()
    fired = an_incident_event(an_incident(a_rule(), a_group(a_cluster())))
    delivery = a_delivery(channel, fired)
    an_attempt(delivery, ok=False, answer="503 Service Unavailable")
    an_attempt(delivery)
    page = viewer.get(at(channel))
    assert "1. 02:55:01 UTC · failed · 0.2 s · 503 Service Unavailable2. 02:55:01 UTC · went well" in shown(page)
    assert f'href="/alerts/incidents/{fired.incident_id}/"' in page.text


def test_one_is_removed(operator: Client) -> None:
    channel = made(operator)
    assert operator.post(at(channel, "remove/")).status_code == 302
    assert operator.get(at(channel)).status_code == 404


def test_a_kind_that_is_none_is_refused(operator: Client) -> None:
    assert operator.get("/alerts/channels/add/?kind=pager").status_code == 400


def test_a_viewer_looks_and_is_told_why(viewer: Client) -> None:
    channel = a_channel()
    page = viewer.get(at(channel))
    assert "You need the role operator or admin" in shown(page)
    assert "<form" not in page.text.partition("<main")[2]
    for path in ("add/", f"{channel.pk}/", f"{channel.pk}/test/", f"{channel.pk}/remove/"):
        assert viewer.post(f"/alerts/channels/{path}", WEBHOOK).status_code == 403


def test_a_channel_that_does_not_deliver_is_told_on_every_page_and_named_where_people_look(viewer: Client) -> None:
    a_group(a_cluster())
    channel = a_channel(failures=3, failing_since=ago(600), failing_why="500 busy", held_until=ago(-20))
    a_delivery(channel, status="waiting", sent_at=None, attempts=0, next_try_at=ago(300))
    assert "1 channel does not deliver" in shown(viewer.get("/groups/"))
    for address in ("/", "/alerts/", "/alerts/channels/"):
        read = shown(viewer.get(address))
        assert "on call no delivery since" in read, address
        assert "1 notification waits · 500 busy" in read, address
    read = shown(viewer.get(at(channel)))
    assert "UTC: 500 busy Next try at" in read
    assert "the channel is paused" in read
    assert read.count("500 busy") == 1


def test_channels_that_deliver_are_no_news(viewer: Client) -> None:
    a_delivery(a_channel(), status="sent")
    assert "deliver" not in shown(viewer.get("/groups/")).replace("deliveries", "")


def test_a_new_webhook_has_a_secret_that_was_made_for_it(operator: Client) -> None:
    pages = [operator.get("/alerts/channels/add/?kind=webhook").text for _ in range(2)]
    made = [
        re.findall(r'<input type="text" id="field-secret" name="secret" value="([0-9a-f]{64})"', page) for page in pages
    ]
    assert [len(one) for one in made] == [1, 1]
    assert made[0] != made[1]


def test_a_secret_that_was_sent_is_not_made_anew_where_another_field_is_wrong(operator: Client) -> None:
    said = {"kind": "webhook", "name": "", "url": "https://hooks.example.org/", "secret": "s" * 40}
    page = operator.post("/alerts/channels/add/?kind=webhook", said).text
    assert '<input type="password" id="field-secret" name="secret" value=""' in page
    assert "Enter the value again" in page


def test_the_example_is_in_the_language_of_messages_and_not_of_the_page(operator: Client) -> None:
    english = operator.get("/alerts/channels/add/?kind=email").text
    chinese = operator.get("/alerts/channels/add/?kind=email", headers={"accept-language": "zh-hans"}).text
    shown = {page.partition('<pre class="rendered"')[2].partition("</pre>")[0] for page in (english, chinese)}
    assert len(shown - {""}) == 1
