"""Which incidents a channel is told of."""

from typing import Any

import pytest

from consumers.alerts.channels.payload import payload_of
from consumers.alerts.channels.queue import Taking
from consumers.models import Channel, Incident
from tests.alert_rows import a_channel, a_rule, an_incident, an_incident_event
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def incident() -> Incident:
    return an_incident(a_rule(), a_group(a_cluster()), labels={"team": "payments"})


@pytest.mark.parametrize(
    ("fields", "taken"),
    [
        ({}, True),
        ({"enabled": False}, False),
        ({"severities": ["warning", "info"]}, True),
        ({"severities": ["critical"]}, False),
        ({"cluster": "prod"}, True),
        ({"cluster": "other"}, False),
        ({"group_pattern": "bill*"}, True),
        ({"group_pattern": "orders"}, False),
        ({"labels": {"team": "payments"}}, True),
        ({"labels": {"team": "others"}}, False),
    ],
)
def test_it_takes_what_it_selects(incident: Incident, fields: dict[str, Any], taken: bool) -> None:
    assert Taking.of(a_channel(**fields)).takes(incident) == taken


def test_one_for_some_rules_takes_no_incident_of_another(incident: Incident) -> None:
    channel = a_channel()
    channel.rules.set([a_rule("Other")])
    assert not Taking.of(Channel.objects.get()).takes(incident)
    channel.rules.add(incident.rule)  # type: ignore[arg-type]
    assert Taking.of(Channel.objects.get()).takes(incident)


def test_an_incident_of_no_group_goes_past_a_channel_of_groups(incident: Incident) -> None:
    incident.subject_kind, incident.group_name, incident.broker_name = "broker", "", "broker-a"
    assert not Taking.of(a_channel(group_pattern="*")).takes(incident)
    assert Taking.of(a_channel("all")).takes(incident)


def test_a_payload_says_null_for_what_is_not_known(incident: Incident, settings: Any) -> None:
    settings.CONSUMERSCOPE_URL = ""
    incident.value, incident.unknown_since, incident.unknown_reason = None, NOW, "the broker is silent"
    channel, event = a_channel(), an_incident_event(incident)
    told = payload_of(incident.pk, 7, channel, incident.rule, [event])["events"][0]["incident"]
    nulls = {name for name, value in told.items() if value is None}
    assert nulls == {"resolved_at", "ending", "value", "state", "groups_count", "url"}
    assert (told["unknown_since"], told["unknown_reason"]) == (NOW.isoformat(), "the broker is silent")


def test_a_payload_of_a_rule_that_was_removed_has_its_name(incident: Incident) -> None:
    told = payload_of(incident.pk, 7, a_channel(), None, [an_incident_event(incident)])
    assert told["rule"] == {
        "name": "Far behind",
        "severity": "warning",
        "measure": "time_lag_seconds",
        "note": "",
        "runbook_url": "",
    }
