"""What people enter for a channel."""

import json
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from consumers.alerts.channels.channel_settings import checked_channel, saved
from consumers.alerts.channels.receiver import sealed_fields
from consumers.alerts.fields import AlertRefused
from consumers.models import Channel
from tests.alert_rows import a_channel, a_rule
from tests.channel_rows import SECRET, a_real_channel, a_webhook
from tests.world import NOW

pytestmark = pytest.mark.django_db
WEBHOOK = {"name": "on call", "kind": "webhook", "url": "https://hooks.example.org/T0/canary-path", "secret": SECRET}
ALERTMANAGER = {"name": "am", "kind": "alertmanager", "url": "http://alertmanager:9093"}
EMAIL = {"name": "mail", "kind": "email", "recipients": ["ann@example.org", "bob@example.org"]}
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
APPRISE = {"name": "chat", "kind": "apprise", "url": SLACK}


def errors_of(fields: dict[str, Any], channel: Channel | None = None) -> dict[str, str]:
    with pytest.raises(AlertRefused) as refused:
        checked_channel(fields, channel)
    return dict(refused.value.errors)


@pytest.mark.parametrize(
    ("fields", "target"),
    [
        (WEBHOOK, "https://hooks.example.org"),
        (ALERTMANAGER, "http://alertmanager:9093"),
        (ALERTMANAGER | {"url": "https://am.example.org/prefix/"}, "https://am.example.org"),
        (EMAIL, "ann@example.org, bob@example.org"),
        (EMAIL | {"recipients": [f"{'a' * 30}{n}@example.org" for n in range(20)]}, "20 addresses"),
        (APPRISE, "Slack"),
        (
            APPRISE | {"url": "mmosts://chat.example.org/3ccdd113474722377935511fc85d3dd4"},
            "Mattermost at chat.example.org",
        ),
    ],
)
def test_where_it_goes_is_said_without_a_secret(fields: dict[str, Any], target: str) -> None:
    assert checked_channel(fields)["target"] == target


@pytest.mark.parametrize("fields", [WEBHOOK, ALERTMANAGER, EMAIL, APPRISE])
def test_a_channel_needs_its_address_and_nothing_else(fields: dict[str, Any]) -> None:
    checked = checked_channel(fields)
    assert (checked["enabled"], checked["severities"], checked["rules"]) == (True, [], [])
    assert (checked["tells_resolved"], checked["title_template"], checked["labels"]) == (True, "", {})


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"name": "x"}, "kind", "webhook, alertmanager, email, apprise"),
        (WEBHOOK | {"kind": ["webhook"]}, "kind", "webhook"),
        (WEBHOOK | {"name": ""}, "name", "empty"),
        (WEBHOOK | {"name": None}, "name", "text"),
        ({"kind": "webhook", "url": "https://a.example", "secret": SECRET}, "name", "Required"),
        ({"kind": "webhook", "name": "x", "secret": SECRET}, "url", "Required"),
        ({"kind": "webhook", "name": "x", "url": "https://a.example"}, "secret", "Required"),
        (WEBHOOK | {"secret": "short"}, "secret", "at least 16"),
        (WEBHOOK | {"secret": "é" * 20}, "secret", "ASCII"),
        (WEBHOOK | {"secret": 5}, "secret", "characters"),
        (WEBHOOK | {"url": "http://2130706433/"}, "url", "four decimal numbers"),
        (WEBHOOK | {"headers": {"Host": "x"}}, "headers", "frame a request"),
        (WEBHOOK | {"headers": {"content-length": "1"}}, "headers", "frame a request"),
        (WEBHOOK | {"headers": {"Consumerscope-Delivery": "1"}}, "headers", "frame a request"),
        (WEBHOOK | {"headers": {"X": "a\r\nHost: b"}}, "headers", "ASCII"),
        (WEBHOOK | {"headers": {"X": ""}}, "headers", "1 to 1000"),
        (WEBHOOK | {"headers": ["X"]}, "headers", "object"),
        (WEBHOOK | {"headers": {f"X-{n}": "1" for n in range(11)}}, "headers", "10"),
        (WEBHOOK | {"title_template": "x"}, "title_template", "JSON"),
        (WEBHOOK | {"recipients": ["a@example.org"]}, "recipients", "of kind webhook has no recipients"),
        (WEBHOOK | {"colour": "red"}, "colour", "Unknown field"),
        (WEBHOOK | {"severities": ["bad"]}, "severities", "critical, warning, info"),
        (WEBHOOK | {"rules": [12345]}, "rules", "no rule 12345"),
        (WEBHOOK | {"rules": [True]}, "rules", "rule IDs"),
        (WEBHOOK | {"rules": [2**70]}, "rules", "no rule"),
        (WEBHOOK | {"labels": {"team name": "x"}}, "labels", "label name"),
        (ALERTMANAGER | {"url": "http://alertmanager:9093/api/v2/alerts"}, "url", "without /api/v2/alerts"),
        (ALERTMANAGER | {"url": "http://alertmanager:9093/?x=1"}, "url", "own address"),
        (ALERTMANAGER | {"token": "t", "username": "u"}, "token", "either"),
        (ALERTMANAGER | {"password": "p"}, "username", "user name"),
        (ALERTMANAGER | {"username": "a:b", "password": "p"}, "username", "not contain ':'"),
        (EMAIL | {"recipients": []}, "recipients", "1 to 20"),
        (EMAIL | {"recipients": "a@example.org"}, "recipients", "list"),
        (EMAIL | {"recipients": ["nobody"]}, "recipients", "not an e-mail address"),
        (EMAIL | {"recipients": ["a@example.org\nBcc: b@example.org"]}, "recipients", "not an e-mail address"),
        (EMAIL | {"recipients": [5]}, "recipients", "not an e-mail address"),
        (EMAIL | {"recipients": ["a@\ud800.org"]}, "recipients", "not an e-mail address"),
        (EMAIL | {"body_template": "{% load static %}"}, "body_template", "Could not read the template"),
        (EMAIL | {"title_template": "{% for a, b in events %}{% endfor %}"}, "title_template", "could not be filled"),
        (EMAIL | {"url": "https://a.example"}, "url", "of kind email has no url"),
    ],
)
def test_what_cannot_work_is_refused_with_a_sentence(fields: dict[str, Any], field: str, sentence: str) -> None:
    assert sentence in errors_of(fields)[field]


def test_empty_fields_of_another_kind_are_let_pass() -> None:
    assert checked_channel(EMAIL | {"url": "", "secret": "", "headers": {}})["kind"] == "email"


def test_what_is_sealed_comes_back_whole() -> None:
    channel = a_webhook("https://hooks.example.org/x", headers={"X-Team": "payments"})
    assert sealed_fields(channel, settings.SECRET_KEY) == {
        "url": "https://hooks.example.org/x",
        "secret": SECRET,
        "headers": {"X-Team": "payments"},
    }
    assert SECRET not in json.dumps(Channel.objects.values("name", "target", "sealed").get())


def test_what_is_not_named_stays_as_it_was() -> None:
    rule = a_rule()
    channel = a_webhook("https://hooks.example.org/x", severities=["critical"], rules=[rule.pk])
    saved(checked_channel({"url": "https://hooks.example.org/y"}, channel), channel, User(username="bob"), NOW)
    channel.refresh_from_db()
    told = sealed_fields(channel, settings.SECRET_KEY)
    assert (told["url"], told["secret"]) == ("https://hooks.example.org/y", SECRET)
    assert (channel.severities, list(channel.rules.all()), channel.changed_by_name) == (["critical"], [rule], "bob")


def test_a_kept_password_is_not_sent_to_another_host() -> None:
    channel = a_real_channel(**ALERTMANAGER | {"username": "ann", "password": "canary-password"})
    errors = errors_of({"url": "http://evil.example:9093"}, channel)
    assert "as they are sent there: username, password." in errors["url"]
    assert checked_channel({"url": "http://alertmanager:9093/prefix"}, channel)
    assert checked_channel({"url": "http://other:9093", "username": "", "password": ""}, channel)


def test_the_kind_of_a_channel_never_changes() -> None:
    assert "cannot be changed" in errors_of({"kind": "email"}, a_webhook("https://hooks.example.org/x"))["kind"]


def test_two_channels_have_two_names() -> None:
    channel = a_webhook("https://hooks.example.org/x")
    assert errors_of(WEBHOOK) == {"name": "Another channel has this name."}
    assert checked_channel({"name": "on call"}, channel)["name"] == "on call"


def test_a_channel_whose_key_is_lost_can_be_switched_off_and_entered_again() -> None:
    channel = a_channel(sealed="of another site")
    assert checked_channel({"enabled": False}, channel)["sealed"] == "of another site"
    assert "another CONSUMERSCOPE_SECRET_KEY" in errors_of({"secret": SECRET}, channel)["url"]
    again = {"url": "https://hooks.example.org/x", "secret": SECRET, "headers": {}}
    assert checked_channel(again, channel)["target"] == "https://hooks.example.org"
