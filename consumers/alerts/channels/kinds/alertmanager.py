"""Alertmanager's API, version 2: one alert for each incident, identified by the labels of its first notification.

Alertmanager (0.25, api/v2/api.go) resolves an alert by itself at its `endsAt`, or after its resolve_timeout if there is
none. Firing alerts are therefore sent with an `endsAt` one day ahead and repeated each minute. So no alert resolves
because Consumerscope is down for a while, and a restarted Alertmanager learns again what fires.
"""

import base64
import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext, gettext_lazy as _

from consumers.alerts.channels.payload import Payload, fires_again, notified_before, still_firing
from consumers.alerts.fields import EntryField, Shape, WrongValue
from consumers.models import Channel, ChannelKind, Delivery, IncidentEventKind, IncidentStatus
from consumers.vocabulary.alerts import DeliveryResult
from consumers.vocabulary.reasons import stored_reason

from .channel_kind import ChannelKindSpec, SealedFields, header_text, http_url, origin_of
from .sending import Means, Outcome, posted

PATH = "/api/v2/alerts"
FIRES_FOR = timedelta(days=1)
TEST_FIRES_FOR = timedelta(minutes=1)
FIRES_AGAIN = stored_reason(DeliveryResult.FIRES_AGAIN)
NO_LABEL = re.compile(r"[^a-zA-Z0-9_]", re.ASCII)
Alert = dict[str, Any]


def send(fields: SealedFields, delivery: Delivery, now: datetime, means: Means) -> Outcome:
    before = notified_before(delivery)
    fires_for = TEST_FIRES_FOR if delivery.is_test else FIRES_FOR
    firing: list[Alert] = []
    resolved: list[Alert] = []
    for event in delivery.payload["events"]:
        earlier = before.get(event["incident"]["id"])
        first = delivery.payload if earlier is None else earlier.payload
        alert = alert_of(event, first, now + fires_for)
        (resolved if event["kind"] == IncidentEventKind.RESOLVED else firing).append(alert)
    alerts = [*firing, *_not_firing_anew(resolved, firing, delivery)]
    return _posted(fields, alerts, means) if alerts else Outcome(True, FIRES_AGAIN)


def _not_firing_anew(resolved: list[Alert], firing: list[Alert], delivery: Delivery) -> list[Alert]:
    """Alertmanager identifies an alert by its labels: a late resolution would resolve a newer incident of the same
    subject.
    """
    if not resolved:
        return []
    again = [_labels(payload, event) for payload, event in fires_again(delivery)]
    firing_labels = [*(alert["labels"] for alert in firing), *again]
    return [alert for alert in resolved if alert["labels"] not in firing_labels]


def repeat(fields: SealedFields, channel: Channel, now: datetime, means: Means) -> Outcome | None:
    """Sends all incidents again that fire and were reported through this channel; None where there are none."""
    alerts = [alert_of(event, payload, now + FIRES_FOR) for payload, event in still_firing(channel)]
    return _posted(fields, alerts, means) if alerts else None


def _posted(fields: SealedFields, alerts: list[Alert], means: Means) -> Outcome:
    headers = {"Content-Type": "application/json", "User-Agent": "Consumerscope", **_authorization(fields)}
    content = json.dumps(alerts, ensure_ascii=False).encode()
    return posted(fields["url"].rstrip("/") + PATH, content, headers, means)


def _authorization(fields: SealedFields) -> dict[str, str]:
    if fields["token"]:
        return {"Authorization": f"Bearer {fields['token']}"}
    if fields["username"]:
        both = f"{fields['username']}:{fields['password']}".encode()
        return {"Authorization": f"Basic {base64.b64encode(both).decode()}"}
    return {}


def alert_of(event: Payload, first: Payload, fires_until: datetime) -> Alert:
    """`first`: the payload that first reported the incident. Its labels identify the alert in Alertmanager from then
    on.
    """
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
    """Built-in labels replace labels of notes with the same name. Alertmanager accepts no empty label."""
    own = {"alertname": rule, "severity": incident["severity"], "source": "consumerscope", **_subject(incident)}
    labels = {NO_LABEL.sub("_", name): value for name, value in incident["labels"].items()}
    return {name: value for name, value in (labels | own).items() if value}


def _subject(incident: Mapping[str, Any]) -> dict[str, str]:
    subject = incident["subject"]
    return {name: subject[name] for name in ("cluster", "broker", "group", "topic")}


def annotations_of(event: Payload) -> dict[str, str]:
    incident = event["incident"]
    annotations = {
        "summary": event["sentence"],
        "evidence": incident["evidence"],
        "owner": incident["owner"],
        "note": incident["note"],
        "runbook_url": incident["runbook_url"],
        "unknown_reason": incident["unknown_reason"],
        "incident": incident["id"],
    }
    if incident["groups_count"] is not None:
        annotations["groups_count"] = str(incident["groups_count"])
    return {name: value for name, value in annotations.items() if value}


def own_address(value: Any) -> str:
    entered = http_url(value).rstrip("/")
    if "?" in entered or entered.endswith(PATH):
        raise WrongValue(
            gettext("Enter Alertmanager's own address, as http://alertmanager:9093, without /api/v2/alerts.")
        )
    return entered


def password(value: Any) -> str:
    return "" if value is None else header_text(value)


def user_name(value: Any) -> str:
    entered = password(value)
    if ":" in entered:
        raise WrongValue(gettext("An HTTP user name must not contain ':'."))
    return entered


def wrong_together(values: Mapping[str, Any]) -> dict[str, str]:
    if values["token"] and (values["username"] or values["password"]):
        return {"token": gettext("Enter either a token or a user name with its password.")}
    if values["password"] and not values["username"]:
        return {"username": gettext("A password needs a user name.")}
    return {}


KIND = ChannelKindSpec(
    code=ChannelKind.ALERTMANAGER,
    label=_("Alertmanager"),
    has_templates=False,
    send=send,
    repeat=repeat,
    target=origin_of,
    wrong_together=wrong_together,
    fields=(
        EntryField(
            name="url",
            shape=Shape.TEXT,
            check=own_address,
            label=_("Address"),
            hint=_("the address of Alertmanager, such as http://alertmanager.example.org:9093"),
        ),
        EntryField(
            name="username",
            shape=Shape.TEXT,
            check=user_name,
            default="",
            is_sent_along=True,
            label=_("User name"),
            hint=_("with a password; or use a token instead"),
        ),
        EntryField(
            name="password",
            shape=Shape.PASSWORD,
            check=password,
            default="",
            is_secret=True,
            is_sent_along=True,
            label=_("Password"),
            hint=_("for that user"),
        ),
        EntryField(
            name="token",
            shape=Shape.PASSWORD,
            check=password,
            default="",
            is_secret=True,
            is_sent_along=True,
            label=_("Bearer token"),
            hint=_("instead of a user"),
            help_text="in place of a user name and password",
        ),
    ),
)
