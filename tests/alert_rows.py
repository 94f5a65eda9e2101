"""Rows of alerts, each with the least that it needs."""

from datetime import datetime, timedelta
from importlib import import_module
from typing import Any

from django.apps import apps

from consumers.alerts.measured import Subject
from consumers.models import (
    AlertEngine,
    AlertRule,
    Channel,
    ConsumerGroup,
    Delivery,
    DeliveryAttempt,
    DeliveryEvent,
    GroupNote,
    Incident,
    IncidentEvent,
    IncidentStatus,
    RulePreview,
    Severity,
    Silence,
    SubjectKind,
)
from tests.world import NOW, ago


def the_default_rule(key: str) -> AlertRule:
    """One that the site comes with, and no other of them."""
    the_default_rules()
    AlertRule.objects.exclude(key=key).delete()
    return AlertRule.objects.get()


def the_default_rules() -> None:
    import_module("consumers.migrations.0003_rules").make(apps, None)


def a_rule(name: str = "Far behind", **fields: Any) -> AlertRule:
    """Groups that are more than five minutes behind, for five minutes."""
    said: dict[str, Any] = {"measure": "time_lag_seconds", "comparison": "above", "threshold": 300, "for_seconds": 300}
    said |= {"severity": "warning", "changed_at": ago(86400), "changed_by_name": "ann"}
    return AlertRule.objects.create(name=name, **(said | fields))


def a_note(group_pattern: str = "bill*", **fields: Any) -> GroupNote:
    said: dict[str, Any] = {"owner": "payments", "runbook_url": "https://wiki.example.org/billing"}
    said |= {"note": "Restart one member at a time.", "labels": {"team": "payments"}, "changed_at": ago(86400)}
    return GroupNote.objects.create(group_pattern=group_pattern, **(said | fields))


def a_silence(**fields: Any) -> Silence:
    """From ten minutes ago, for another hour."""
    said: dict[str, Any] = {"starts_at": ago(600), "ends_at": ago(-3600), "created_at": ago(600), "by_name": "ann"}
    return Silence.objects.create(**(said | {"reason": "the database moves"} | fields))


def of_group(group: ConsumerGroup) -> Subject:
    return Subject(SubjectKind.GROUP, cluster=group.cluster.name, group=group.name, group_id=group.pk)


def an_incident(rule: AlertRule, group: ConsumerGroup, **fields: Any) -> Incident:
    """One that fires since five minutes ago, and holds since ten."""
    subject = of_group(group)
    said: dict[str, Any] = {"rule_name": rule.name, "severity": rule.severity, "measure": rule.measure}
    said |= {"comparison": rule.comparison, "threshold": rule.threshold, "states": rule.states}
    said |= {"subject_kind": subject.kind, "subject_key": subject.key, "group": group}
    said |= {"cluster_name": subject.cluster, "group_name": subject.group}
    said |= {"status": "firing", "started_at": ago(600), "fired_at": ago(300)}
    said |= {"value": 620.0, "worst_value": 700.0, "value_at": ago(5), "evidence": "10 min 20 s behind"}
    return Incident.objects.create(rule=rule, **(said | fields))


def many_incidents(rule: AlertRule, group: ConsumerGroup, count: int) -> None:
    """Which fire, one began a second after the other."""
    said = {"rule": rule, "rule_name": rule.name, "measure": rule.measure, "comparison": rule.comparison}
    said |= {"threshold": 300.0, "subject_kind": "group", "cluster_name": "prod", "group": group}
    Incident.objects.bulk_create(
        Incident(
            subject_key=f"group:prod/g{number}",
            group_name=f"g{number}",
            severity=Severity.values[number % 3],
            status=IncidentStatus.FIRING,
            started_at=NOW - timedelta(seconds=number),
            **said,
        )
        for number in range(count)
    )


def an_incident_event(incident: Incident, kind: str = "firing", **fields: Any) -> IncidentEvent:
    sequence = incident.events.count() + 1
    said: dict[str, Any] = {"sequence": sequence, "at": ago(300), "sentence": "10 min 20 s behind, for 5 min"}
    return IncidentEvent.objects.create(incident=incident, kind=kind, **(said | fields))


def a_channel(name: str = "on call", **fields: Any) -> Channel:
    said: dict[str, Any] = {"kind": "webhook", "target": "https://hooks.example.org", "sealed": "sealed"}
    return Channel.objects.create(name=name, **(said | {"changed_at": ago(86400)} | fields))


def a_delivery(channel: Channel, *events: IncidentEvent, **fields: Any) -> Delivery:
    """Sent at the first try."""
    said: dict[str, Any] = {"number": channel.deliveries.count() + 1, "payload": {}, "status": "sent", "attempts": 1}
    said |= {"created_at": ago(300), "sent_at": ago(299)}
    delivery = Delivery.objects.create(channel=channel, **(said | fields))
    for event in events:
        DeliveryEvent.objects.create(delivery=delivery, channel=channel, event=event)
    return delivery


def an_attempt(delivery: Delivery, **fields: Any) -> DeliveryAttempt:
    said: dict[str, Any] = {"number": delivery.tries.count() + 1, "at": ago(299), "seconds": 0.2, "ok": True}
    return DeliveryAttempt.objects.create(delivery=delivery, **(said | {"answer": "200 OK"} | fields))


def a_preview(**fields: Any) -> RulePreview:
    rule = {"name": "Far behind", "measure": "time_lag_seconds", "comparison": "above", "threshold": 300.0}
    rule |= {"severity": "warning", "for_seconds": 300.0, "clear_seconds": 300.0}
    said: dict[str, Any] = {"rule": rule, "since": ago(7 * 86400), "until": NOW, "status": "waiting"}
    return RulePreview.objects.create(**({"created_at": ago(30)} | said | fields))


def an_evaluation(at: datetime = NOW, **fields: Any) -> AlertEngine:
    said: dict[str, Any] = {"evaluated_at": at, "seconds": 0.2, "rules": 20, "groups": 1}
    row, _ = AlertEngine.objects.update_or_create(pk=1, defaults=said | fields)
    return row
