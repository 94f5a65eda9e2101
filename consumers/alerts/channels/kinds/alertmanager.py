"""Alertmanager's API, version 2: an alert for each incident, by the labels that it was first told with.

Alertmanager (0.25, api/v2/api.go) resolves an alert by itself at its `endsAt`, or after its resolve_timeout where none
is given: what fires therefore ends a day from now, and is told again each minute, which moves that day on. So nothing
ends because Consumerscope is down for a while, and a restarted Alertmanager learns again what fires.
"""

import base64
import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from consumers.alerts.channels.delivery.firings import fires_again, still_firing, told_before
from consumers.alerts.channels.delivery.outcome import Outcome
from consumers.alerts.channels.delivery.payload import Payload
from consumers.alerts.channels.secrets_of import Told
from consumers.models import Channel, Delivery, IncidentEventKind, IncidentStatus

from .sending import Means, posted

PATH = "/api/v2/alerts"
FIRES_FOR = timedelta(days=1)
TEST_FIRES_FOR = timedelta(minutes=1)
REPEAT_SECONDS = 60.0
FIRES_AGAIN = "Nothing was sent: all that it ends fires again, under the same labels."
NO_LABEL = re.compile(r"[^a-zA-Z0-9_]", re.ASCII)
Alert = dict[str, Any]


def send(told: Told, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    before = told_before(delivery)
    fires_for = TEST_FIRES_FOR if delivery.is_test else FIRES_FOR
    firing: list[Alert] = []
    over: list[Alert] = []
    for event in delivery.payload["events"]:
        earlier = before.get(event["incident"]["id"])
        first = delivery.payload if earlier is None else earlier.payload
        alert = alert_of(event, first, now + fires_for)
        (over if event["kind"] == IncidentEventKind.RESOLVED else firing).append(alert)
    alerts = [*firing, *_not_firing_anew(over, firing, delivery)]
    return _posted(told, alerts, means) if alerts else Outcome(True, FIRES_AGAIN)


def _not_firing_anew(over: list[Alert], firing: list[Alert], delivery: Delivery) -> list[Alert]:
    """An alert is its labels: an end that comes late would end what fires anew of the same subject."""
    if not over:
        return []
    again = [_labels(payload, event) for payload, event in fires_again(delivery)]
    standing = [*(alert["labels"] for alert in firing), *again]
    return [alert for alert in over if alert["labels"] not in standing]


def repeat(told: Told, channel: Channel, now: datetime, means: Means) -> Outcome | None:
    """Tells again of all incidents that fire and were told through this channel; None where there are none."""
    alerts = [alert_of(event, payload, now + FIRES_FOR) for payload, event in still_firing(channel)]
    return _posted(told, alerts, means) if alerts else None


def _posted(told: Told, alerts: list[Alert], means: Means) -> Outcome:
    headers = {"Content-Type": "application/json", "User-Agent": "Consumerscope", **_authorization(told)}
    content = json.dumps(alerts, ensure_ascii=False).encode()
    return posted(told["url"].rstrip("/") + PATH, content, headers, means)


def _authorization(told: Told) -> dict[str, str]:
    if told["token"]:
        return {"Authorization": f"Bearer {told['token']}"}
    if told["username"]:
        both = f"{told['username']}:{told['password']}".encode()
        return {"Authorization": f"Basic {base64.b64encode(both).decode()}"}
    return {}


def alert_of(event: Payload, first: Payload, fires_until: datetime) -> Alert:
    """`first`: the payload that told of it first, whose labels are its name for Alertmanager ever since."""
    incident = event["incident"]
    is_over = incident["status"] == IncidentStatus.RESOLVED
    return {
        "labels": _labels(first, event),
        "annotations": annotations_of(event),
        "startsAt": incident["started_at"],
        "endsAt": incident["resolved_at"] if is_over else fires_until.isoformat(),
        **({"generatorURL": incident["url"]} if incident["url"] else {}),
    }


def _labels(first: Payload, event: Payload) -> dict[str, str]:
    key = event["incident"]["id"]
    named = next(one for one in first["events"] if one["incident"]["id"] == key)["incident"]
    return labels_of(first["rule"]["name"], named)


def labels_of(rule: str, incident: Mapping[str, Any]) -> dict[str, str]:
    """Labels of notes give way to those that are always there. Alertmanager takes none that is empty."""
    own = {"alertname": rule, "severity": incident["severity"], "source": "consumerscope", **_subject(incident)}
    labels = {NO_LABEL.sub("_", name): value for name, value in incident["labels"].items()}
    return {name: value for name, value in (labels | own).items() if value}


def _subject(incident: Mapping[str, Any]) -> dict[str, str]:
    subject = incident["subject"]
    return {name: subject[name] for name in ("cluster", "broker", "group", "topic")}


def annotations_of(event: Payload) -> dict[str, str]:
    incident = event["incident"]
    told = {
        "summary": event["sentence"],
        "evidence": incident["evidence"],
        "owner": incident["owner"],
        "note": incident["note"],
        "runbook_url": incident["runbook_url"],
        "unknown_reason": incident["unknown_reason"],
        "incident": incident["id"],
    }
    if incident["groups_count"] is not None:
        told["groups_count"] = str(incident["groups_count"])
    return {name: value for name, value in told.items() if value}
