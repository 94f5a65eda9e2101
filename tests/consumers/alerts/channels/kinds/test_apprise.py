"""Services of Apprise: which URLs are taken, and what a real process of it sends."""

import json
import subprocess
from typing import Any

import pytest
from apprise import Apprise
from hypothesis import given, strategies as st

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.kinds.apprise import (
    ALLOWED,
    checked_apprise_url,
    environment,
    notices_of,
    service_of,
    type_of,
)
from consumers.alerts.channels.kinds.apprise_child import cut, fitting
from consumers.alerts.fields import WrongValue
from consumers.models import Channel, Cluster, Delivery, Incident
from consumers.words.reasons import stored_words
from tests.alert_rows import a_channel, a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_real_channel
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver, status
from tests.world import a_cluster, a_group

TOKEN = "canary3ccdd113474722377935511fc8"
UUID = "01234567-89ab-4cde-8f01-23456789abcd"


@pytest.mark.parametrize(
    ("url", "service"),
    [
        ("slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#channel", "Slack"),
        ("https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ", "Slack"),
        ("dingtalk://abcdefghijkl12345678/13800000000", "DingTalk"),
        ("dingtalk://secret123@abcdefghijkl12345678", "DingTalk"),
        (f"wecombot://{UUID}", "WeCom Bot"),
        (f"https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={UUID}", "WeCom Bot"),
        ("feishu://abcdefghijklmnop", "Feishu"),
        (f"lark://{UUID}", "Lark (Feishu)"),
        ("tgram://123456789:abcdefg_hijklmnop/-100123", "Telegram"),
        ("pagerduty://intkey1234@apikey1234", "Pager Duty"),
        (f"opsgenie://{UUID}/#team", "Opsgenie"),
        ("discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js", "Discord"),
        ("gchat://workspace/key/token", "Google Chat"),
        ("mmost://chat.example.org:8065/3ccdd113474722377935511fc85d3dd4", "Mattermost at chat.example.org"),
        ("ntfys://ntfy.example.org/topic", "ntfy at ntfy.example.org"),
        ("gotifys://push.example.org/abcdefghijklmno", "Gotify at push.example.org"),
    ],
)
def test_the_forms_that_services_document_are_taken(url: str, service: str) -> None:
    assert service_of(checked_apprise_url(url)) == service


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        *(
            (f"{schema}://hooks.example.org/{TOKEN}", "docs/channels.md")
            for schema in ("json", "xml", "form", "apprise")
        ),
        *((f"{schema}://{TOKEN}", "docs/channels.md") for schema in ("syslog", "dbus", "file", "mailto", "rsyslog")),
        (f"https://hooks.example.org/{TOKEN}", "docs/channels.md"),
        (TOKEN, "one Apprise URL"),
        (f"slack://T1JJ3T3L2/A1BRTD4JD/{TOKEN}?template=/etc/passwd", "name files are not allowed: template"),
        (f"slack://T1JJ3T3L2/A1BRTD4JD/{TOKEN}?+Template=x", "name files are not allowed: template"),
        (f"mmost://[::1/{TOKEN}", "IPv6"),
    ],
)
def test_other_urls_are_refused_with_a_sentence_that_does_not_repeat_them(url: str, sentence: str) -> None:
    with pytest.raises(WrongValue, match=sentence) as refused:
        checked_apprise_url(url)
    assert TOKEN not in str(refused.value)


def test_a_url_that_misses_a_part_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(WrongValue, match="a part of it is missing"):
        service_of(checked_apprise_url(f"slack://{TOKEN}"))
    assert caplog.text == ""


def test_every_service_that_is_allowed_is_one_that_apprise_has() -> None:
    from apprise.plugins import N_MGR

    assert set(N_MGR.schemas()) >= ALLOWED


@pytest.mark.parametrize(
    ("events", "kind"),
    [
        ([("firing", "info"), ("firing", "critical")], "failure"),
        ([("firing", "warning"), ("resolved", "critical")], "warning"),
        ([("firing", "info")], "info"),
        ([("resolved", "critical")], "success"),
    ],
)
def test_a_message_is_of_the_kind_of_its_worst_change(events: list[tuple[str, str]], kind: str) -> None:
    assert type_of([{"kind": one, "incident": {"severity": severity}} for one, severity in events]) == kind


@pytest.mark.django_db
def test_pagerduty_is_told_of_each_incident_under_its_own_key() -> None:
    channel, rule, cluster = a_channel(), a_rule(severity="critical"), a_cluster()
    first, second = (an_incident(rule, a_group(cluster, name)) for name in ("billing", "orders"))
    delivery = a_message(channel, an_incident_event(first), an_incident_event(second, "resolved"))
    url = "pagerduty://intkey1234@apikey1234?dedup=x&action=trigger"
    told = notices_of(url, delivery, named=20)
    services = [Apprise.instantiate(one["url"]) for one in told]
    assert [(one.action, one.dedup) for one in services if one] == [("map", str(row.pk)) for row in (first, second)]
    assert [one["type"] for one in told] == ["failure", "success"]
    assert ["billing" in one["texts"][0]["title"] for one in told] == [True, False]


@pytest.mark.django_db
@pytest.mark.parametrize("more", ["", "/#team", "/#team?priority=p1", "?:info=note"])
def test_opsgenie_opens_an_alert_for_what_is_of_severity_info(more: str) -> None:
    incident = an_incident(a_rule(severity="info"), a_group(a_cluster()))
    [told] = notices_of(f"opsgenie://{UUID}{more}", a_message(a_channel(), an_incident_event(incident)), named=20)
    service = Apprise.instantiate(told["url"])
    assert service is not None
    assert (told["type"], service.mapping["info"], len(service.targets)) == ("info", "new", "team" in more)


def test_the_process_knows_no_proxy_and_no_password_of_the_environment() -> None:
    known = {"HTTPS_PROXY": "x", "http_proxy": "x", "NETRC": "x", "PATH": "/bin", "NO_PROXY": "y"}
    known |= {"CONSUMERSCOPE_SECRET_KEY": "x", "DATABASE_URL": "x"}
    assert environment(known) == {"PATH": "/bin", "NO_PROXY": "*", "NETRC": "/dev/null"}


@pytest.fixture
def incident(db: None) -> Incident:
    return an_incident(a_rule(severity="critical"), a_group(a_cluster()))


def mattermost(receiver: HttpReceiver) -> Channel:
    return a_real_channel("chat", kind="apprise", url=f"mmost://127.0.0.1:{receiver.port}/{TOKEN}")


def sent(channel: Channel, incident: Incident) -> tuple[Delivery, FakeClock]:
    delivery, clock = a_message(channel, an_incident_event(incident)), FakeClock()
    deliver(channel.pk, clock, clock.pause)
    delivery.refresh_from_db()
    return delivery, clock


def test_a_service_of_ones_own_gets_title_and_text(
    receiver: HttpReceiver, incident: Incident, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    delivery, clock = sent(mattermost(receiver), incident)
    assert (delivery.status, delivery.error) == ("sent", None)
    [got] = receiver.received
    assert got.path == f"/hooks/{TOKEN}"
    told: dict[str, Any] = json.loads(got.content)
    assert told["text"].splitlines()[0] == "FIRING · Far behind: billing"
    assert "10 min 20 s behind, for 5 min" in told["text"]
    assert clock.pauses == [1.0]


def test_a_service_that_refuses_is_told_without_the_token(receiver: HttpReceiver, incident: Incident) -> None:
    receiver.answers = [status(400, f"no hook {TOKEN}")]
    delivery, _ = sent(mattermost(receiver), incident)
    assert delivery.status == "waiting"
    answer = stored_words(delivery.tries.get().answer)
    assert "Mattermost" in answer
    assert TOKEN not in answer


def test_a_service_at_an_address_that_is_not_allowed_is_never_reached(
    receiver: HttpReceiver, incident: Incident, settings: Any
) -> None:
    settings.CONSUMERSCOPE_ALERT_NETWORKS = []
    delivery, _ = sent(mattermost(receiver), incident)
    assert "127.0.0.1, which is not a public address" in str(stored_words(delivery.error))
    assert receiver.received == []


def test_a_redirect_leads_nowhere(receiver: HttpReceiver, incident: Incident) -> None:
    receiver.answers = [status(307, Location=f"{receiver.url}/elsewhere")]
    delivery, _ = sent(mattermost(receiver), incident)
    assert (delivery.status, len(receiver.received)) == ("waiting", 1)


def test_a_service_that_never_answers_is_left_in_time(
    receiver: HttpReceiver, incident: Incident, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("consumers.alerts.channels.kinds.apprise.STARTS_SECONDS", 0.2)
    settings.ALERT_DELIVERY_SECONDS = 0.3
    receiver.answers = [receiver.never_answers]
    delivery, _ = sent(mattermost(receiver), incident)
    assert stored_words(delivery.error) == "The service did not answer within 0.5 s."


def test_a_message_that_is_longer_than_the_service_takes_names_fewer_changes_and_counts_the_others(
    receiver: HttpReceiver, incident: Incident
) -> None:
    rule, cluster = a_rule("Stalled"), Cluster.objects.get()
    events = [
        an_incident_event(an_incident(rule, a_group(cluster, f"group-{n}"), note="n" * 300), sentence="测" * 100)
        for n in range(37)
    ]
    channel, clock = mattermost(receiver), FakeClock()
    a_message(channel, *events)
    deliver(channel.pk, clock, clock.pause)
    [got] = receiver.received
    text = json.loads(got.content)["text"]
    assert len(text.encode()) <= 4000
    assert [f"group-{n} " in text for n in (0, 4, 5)] == [True, True, False]
    assert "And 32 more, which are not named here." in text


def test_changes_that_pagerduty_took_are_not_sent_again(
    db: None, monkeypatch: pytest.MonkeyPatch, receiver: HttpReceiver
) -> None:
    channel = a_real_channel("pager", kind="apprise", url="pagerduty://intkey1234@apikey1234")
    rule, cluster = a_rule(), a_cluster()
    events = [an_incident_event(an_incident(rule, a_group(cluster, name))) for name in ("audit", "billing", "orders")]
    delivery = a_message(channel, *events)
    notices = notices_of("pagerduty://intkey1234@apikey1234", delivery, named=20)
    asked = []

    def ends(command: object, **more: Any) -> subprocess.CompletedProcess[str]:
        asked.append([one["key"] for one in json.loads(more["input"])["notices"]])
        if len(asked) == 1:
            raise subprocess.TimeoutExpired("apprise", 1, output=b"sent\nsent\n")
        return subprocess.CompletedProcess([], 0, 'sent\n{"ok": true, "log": [], "host": null}\n', "")

    monkeypatch.setattr(subprocess, "run", ends)
    clock = FakeClock()
    clock.at = deliver(channel.pk, clock, clock.pause) or clock.at
    delivery.refresh_from_db()
    assert "accepted 2 of 3 changes" in str(stored_words(delivery.error))
    deliver(channel.pk, clock, clock.pause)
    delivery.refresh_from_db()
    assert asked == [[one["key"] for one in notices], [notices[2]["key"]]]
    assert delivery.status == "sent"


@pytest.mark.parametrize(
    ("longest", "longest_title", "body"),
    [(20, 9, "a long text, one"), (9, 9, "a short"), (9, 0, "a …"), (8, 9, "a short"), (6, 9, "a s…"), (0, 0, "…")],
)
def test_a_text_is_the_longest_that_fits_or_cut(longest: int, longest_title: int, body: str) -> None:
    texts = [{"title": "on", "body": "a long text, one"}, {"title": "on", "body": "a short"}]
    assert fitting(texts, longest, longest_title)["body"] == body


@given(st.text(max_size=40), st.integers(3, 60))
def test_what_is_cut_has_at_most_so_many_bytes(text: str, most: int) -> None:
    assert len(cut(text, most).encode()) <= most
