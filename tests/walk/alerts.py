"""Rules, incidents, channels, silences and notes of the world of which all is known."""

from consumers.models import ConsumerGroup, Incident
from tests.alert_rows import (
    a_channel,
    a_delivery,
    a_note,
    a_preview,
    a_rule,
    a_silence,
    an_attempt,
    an_evaluation,
    an_incident,
    an_incident_event,
)
from tests.walk.addresses import PROD_BILLING
from tests.world import ago


def known_alerts(group: ConsumerGroup) -> None:
    """Incidents: one that fires and was told and acknowledged, others of each severity, one that is silenced, a pending
    one, one that is over.

    So no count of them, and of messages about them, is zero.
    """
    rule = a_rule(id=PROD_BILLING["rule"])
    a_note(id=PROD_BILLING["note"], position=1)
    silence = a_silence(id=PROD_BILLING["silence"], group_pattern="other*")
    seen = {"acknowledged_at": ago(200), "acknowledged_by_name": "ann", "acknowledgement": "on it"}
    notes = {"owner": "payments", "runbook_url": "https://wiki.example.org/billing", "labels": {"team": "payments"}}
    incident = an_incident(rule, group, id=PROD_BILLING["incident"], **seen, **notes)
    fired = an_incident_event(incident)
    channel = a_channel(id=PROD_BILLING["channel"])
    an_attempt(a_delivery(channel, fired, id=PROD_BILLING["delivery"]))
    of_broker = {"subject_kind": "broker", "subject_key": "broker:prod/broker-b", "broker_name": "broker-b"}
    of_broker |= {"group_name": "", "groups_count": 1, "group_names": [["prod", "billing"]], "silence": silence}
    quiet = an_incident(rule, group, **of_broker)
    Incident.objects.filter(pk=quiet.pk).update(group=None)
    told_twice = an_incident_event(quiet)
    tried = {"status": "waiting", "attempts": 1, "sent_at": None, "next_try_at": ago(-60), "error": "timed out"}
    an_attempt(a_delivery(channel, told_twice, **tried), ok=None, seconds=None, answer="")
    of_topic = {"subject_kind": "topic", "subject_key": "topic:prod/billing/Orders", "topic_name": "Orders"}
    an_incident(rule, group, status="pending", fired_at=None, **of_topic)
    for severity in ("critical", "info"):
        of_other = of_topic | {"subject_key": f"topic:prod/billing/{severity}", "severity": severity}
        an_incident(rule, group, started_at=ago(700), fired_at=ago(650), **of_other)
    over = {"status": "resolved", "resolved_at": ago(2000), "ending": "recovered"}
    an_incident(rule, group, started_at=ago(3000), fired_at=ago(2700), **over)
    a_preview(id=PROD_BILLING["preview"])
    an_evaluation(ago(10))
