"""An end that comes late closes nothing newer at its receiver."""

import json
from datetime import timedelta
from typing import Any

import pytest
from apprise import Apprise

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.kinds.apprise import checked_apprise_url, notices_of
from consumers.models import AlertRule, Channel, ConsumerGroup, Delivery, Incident, IncidentEvent
from consumers.words.reasons import stored_words
from tests.alert_rounds import a_round
from tests.alert_rows import a_channel, a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_real_channel, a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
BEFORE = {"started_at": ago(7200), "fired_at": ago(7000)}


@pytest.fixture
def rule() -> AlertRule:
    return a_rule()


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def older(rule: AlertRule, group: ConsumerGroup) -> Incident:
    return an_incident(rule, group, status="resolved", resolved_at=ago(3600), **BEFORE)


def end_of(incident: Incident) -> IncidentEvent:
    return an_incident_event(incident, "resolved", at=ago(3600))


def alerts(receiver: HttpReceiver) -> list[list[tuple[str, bool]]]:
    """Of each request: the group of each alert, and whether it fires."""
    sent: list[list[dict[str, Any]]] = [json.loads(one.content) for one in receiver.received]
    return [[(one["labels"]["group"], one["endsAt"] > NOW.isoformat()) for one in each] for each in sent]


def told_of_both(receiver: HttpReceiver, older: Incident, newer: Incident, how: str) -> Delivery:
    """The older's beginning went long ago; its end and the newer's beginning go now. The end's message."""
    channel, clock = a_real_channel("alertmanager", kind="alertmanager", url=receiver.url), FakeClock()
    a_message(channel, an_incident_event(older))
    deliver(channel.pk, clock, clock.pause)
    begins = an_incident_event(newer)
    if how == "in one message":
        end = a_message(channel, begins, end_of(older))
    elif how == "the end first":
        end = a_message(channel, end_of(older))
        a_message(channel, begins)
    else:
        a_message(channel, begins)
        deliver(channel.pk, clock, clock.pause)
        end = a_message(channel, end_of(older))
    deliver(channel.pk, clock, clock.pause)
    end.refresh_from_db()
    assert end.status == "sent"
    return end


@pytest.mark.parametrize(
    ("how", "requests"),
    [
        ("in one message", [[("billing", True)]]),
        ("the end first", [[("billing", False)], [("billing", True)]]),
        ("the end last", [[("billing", True)]]),
    ],
)
def test_alertmanager_keeps_what_fires_anew_under_the_same_labels(
    receiver: HttpReceiver,
    older: Incident,
    rule: AlertRule,
    group: ConsumerGroup,
    how: str,
    requests: list[list[tuple[str, bool]]],
) -> None:
    told_of_both(receiver, older, an_incident(rule, group), how)
    assert alerts(receiver)[1:] == requests


def test_the_try_says_that_nothing_was_to_end(
    receiver: HttpReceiver, older: Incident, rule: AlertRule, group: ConsumerGroup
) -> None:
    end = told_of_both(receiver, older, an_incident(rule, group), "the end last")
    assert (
        stored_words(end.tries.get().answer) == "Nothing was sent: all that it ends fires again, under the same labels."
    )


@pytest.mark.parametrize("change", ["over again", "another severity", "another group"])
def test_alertmanager_is_told_of_the_end_where_nothing_of_its_labels_fires(
    receiver: HttpReceiver, older: Incident, rule: AlertRule, group: ConsumerGroup, change: str
) -> None:
    if change == "another group":
        newer = an_incident(rule, a_group(group.cluster, "search"))
    else:
        newer = an_incident(rule, group, **({"severity": "critical"} if change == "another severity" else {}))
    if change == "over again":
        newer.status, newer.resolved_at = "resolved", NOW - timedelta(seconds=1)
        newer.save()
    told_of_both(receiver, older, newer, "the end last")
    assert alerts(receiver)[-1] == [("billing", False)]


SERVICES = [
    ("pagerduty://intkey1234@apikey1234", "dedup"),
    ("incidentio://source01/token0123456789", "dedup"),
    ("https://api.incident.io/v2/alert_events/http/source01?token=token0123456789", "dedup"),
    ("ilert://il1api123456789", "dedup"),
    ("firehydrant://token0123456789abc", "dedup"),
    ("https://signals.firehydrant.com/v1/process/token0123456789abc", "dedup"),
    ("squadcast://key0123456789", "dedup"),
    ("https://api.eu.squadcast.com/v2/incidents/api/key0123456789", "dedup"),
    ("goalerts://alerts.example.org/01234567-89ab-4cde-8f01-23456789abcd", "dedup"),
    ("splunk://route@apikey", "entity_id"),
    ("VictorOps://route@apikey/one_for_all", "entity_id"),
    ("https://alert.victorops.com/integrations/generic/20131114/alert/apikey/route", "entity_id"),
    ("signl4://secret0123?dedup=x", "external_id"),
    ("pagertree://int_0123456789ab?dedup=x", "thirdparty"),
    ("pagertree://int_0123456789ab?action=resolve", "thirdparty"),
]


@pytest.mark.parametrize(("url", "key"), SERVICES)
def test_a_service_that_knows_incidents_by_keys_is_told_which_one_is_over(
    older: Incident, rule: AlertRule, group: ConsumerGroup, url: str, key: str
) -> None:
    newer = an_incident(rule, group)
    delivery = a_message(a_channel(), an_incident_event(newer), end_of(older))
    told = notices_of(checked_apprise_url(url), delivery, named=20)
    services = [Apprise.instantiate(one["url"]) for one in told]
    assert [(getattr(one, key), one.action) for one in services if one] == [
        (str(newer.pk), "map"),
        (str(older.pk), "map"),
    ]
    assert [one["type"] for one in told] == ["warning", "success"]


def test_a_real_process_ends_the_older_incident_alone(
    receiver: HttpReceiver, older: Incident, rule: AlertRule, group: ConsumerGroup
) -> None:
    url = f"goalert://127.0.0.1:{receiver.port}/01234567-89ab-4cde-8f01-23456789abcd"
    newer, channel, clock = an_incident(rule, group), a_real_channel("pager", kind="apprise", url=url), FakeClock()
    a_message(channel, an_incident_event(newer), end_of(older))
    deliver(channel.pk, clock, clock.pause)
    told = [json.loads(one.content) for one in receiver.received]
    assert [(one["dedup"], one.get("action")) for one in told] == [(str(newer.pk), None), (str(older.pk), "close")]


def test_a_receiver_hears_of_each_change_once_though_its_channel_is_off_at_the_end(
    receiver: HttpReceiver, rule: AlertRule
) -> None:
    AlertRule.objects.update(for_seconds=0, clear_seconds=0)
    channel, clock = a_webhook(receiver.url), FakeClock()
    for on, value in ((True, 620.0), (False, 12.0), (False, 620.0), (False, 12.0), (True, 12.0), (True, 12.0)):
        Channel.objects.update(enabled=on)
        clock.pass_by(15)
        a_round(clock.at, {"billing": value}, AlertRule.objects.get())
        deliver(channel.pk, clock, clock.pause)
    told = [event for one in receiver.received for event in json.loads(one.content)["events"]]
    assert [event["kind"] for event in told] == ["firing", "resolved"]
    assert len({event["incident"]["id"] for event in told}) == 1
