"""A message about nothing that is: for tests of channels, and to try templates with."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from consumers.alerts.channels.delivery.payload import Payload, payload_of
from consumers.models import Channel, Comparison, Incident, IncidentEvent, IncidentStatus, Measure, Severity

NAME = "Test of a channel"
EVIDENCE = "This tests the channel: no group is behind."
# Of all samples: nobody is to take it for one that can be looked at.
NOBODY = UUID(int=0)


def sample_payload(delivery_id: UUID, number: int, channel: Channel, by: str, now: datetime) -> Payload:
    """It fires, so that receivers show it; Alertmanager lets it pass by itself."""
    incident = Incident(
        id=NOBODY,
        rule_name=NAME,
        severity=Severity.INFO,
        measure=Measure.TIME_LAG,
        comparison=Comparison.ABOVE,
        threshold=300.0,
        subject_kind="group",
        subject_key="group:test/test",
        cluster_name="test",
        group_name="test",
        status=IncidentStatus.FIRING,
        started_at=now - timedelta(minutes=10),
        fired_at=now,
        evidence=EVIDENCE,
        owner=by,
    )
    event = IncidentEvent(
        incident=incident, sequence=1, at=now, kind="firing", sentence=f"{EVIDENCE} {by} asked for it."
    )
    told: dict[str, Any] = payload_of(delivery_id, number, channel, None, [event], is_test=True)
    told["events"][0]["incident"]["url"] = None
    return told
