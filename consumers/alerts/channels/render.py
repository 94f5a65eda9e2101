"""Renders title and body of a message with the channel's templates or the built-in ones."""

import copy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from consumers.alerts.measured import Subject
from consumers.models import (
    Channel,
    Comparison,
    Incident,
    IncidentEvent,
    IncidentStatus,
    Measure,
    Severity,
    SubjectKind,
)
from consumers.vocabulary.reasons import stored_reasons

from .payload import Payload, payload_of
from .templates import TemplateFailed, own_words, rendered

LONGEST_TITLE = 250
LONGEST_BODY = 20_000
TIMES = ("started_at", "fired_at", "resolved_at", "unknown_since")


@dataclass(frozen=True)
class Rendered:
    """`note`: why the built-in text is used although the channel has a template, as it is stored, or None."""

    title: str
    body: str
    note: str | None = None


def render(payload: Payload, channel: Channel, named: int) -> Rendered:
    """`named`: how many changes the text names; the others are counted."""
    title, title_note = _filled(channel.title_template, TITLE, payload, named)
    body, body_note = _filled(channel.body_template, BODY, payload, named)
    notes = [note for note in (title_note, body_note) if note]
    return Rendered(_one_line(title), _short(body.strip(), LONGEST_BODY), stored_reasons(notes) if notes else None)


def template_context(payload: Payload, named: int) -> dict[str, Any]:
    """The payload with times as datetimes, at most `named` of its events, and counts."""
    context = copy.deepcopy({**payload, "events": payload["events"][:named]})
    for event in context["events"]:
        event["at"] = datetime.fromisoformat(event["at"])
        incident = event["incident"]
        incident |= {name: _time(incident[name]) for name in TIMES}
        incident["subject"]["title"] = _title(incident["subject"])
    kinds = [event["kind"] for event in payload["events"]]
    counts = {kind: kinds.count(kind) for kind in ("firing", "resolved")}
    return (
        context | counts | {"count": len(kinds), "count_less_one": len(kinds) - 1, "others": max(len(kinds) - named, 0)}
    )


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _title(subject: dict[str, str]) -> str:
    kind = SubjectKind(subject["kind"])
    return Subject(kind, subject["cluster"], subject["broker"], subject["group"], subject["topic"]).title


def _filled(template: str, own: str, payload: Payload, named: int) -> tuple[str, str | None]:
    """Each template gets its own context, because a template may empty the lists it is given."""
    if not template.strip():
        return own_words(own, template_context(payload, named)), None
    try:
        return rendered(template, template_context(payload, named)), None
    except TemplateFailed as error:
        return own_words(own, template_context(payload, named)), str(error)


def _one_line(title: str) -> str:
    """Titles become mail headers: they must not contain line breaks."""
    return _short(" ".join(title.split()), LONGEST_TITLE)


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


# The built-in templates: plain text, short enough for a phone.

TITLE = (
    "{% if is_test %}[TEST] {% endif %}"
    "{% if firing %}FIRING{% if firing > 1 %} {{ firing }}{% endif %}{% endif %}"
    "{% if firing and resolved %}, {% endif %}"
    "{% if resolved %}RESOLVED{% if resolved > 1 %} {{ resolved }}{% endif %}{% endif %}"
    " · {{ rule.name }}: {{ events.0.incident.subject.title }}"
    "{% if count > 1 %} and {{ count_less_one }} more{% endif %}"
)

BODY = """\
{% for event in events %}\
{% if event.kind == "resolved" %}RESOLVED{% else %}FIRING{% endif %} · {{ event.incident.severity }} · \
{{ event.incident.subject.title }}\
{% if event.incident.subject.cluster and event.incident.subject.cluster != event.incident.subject.title %}\
 in {{ event.incident.subject.cluster }}{% endif %}
{{ event.sentence }}
{% if event.incident.groups_count %}\
Groups that it leaves unknown: {{ event.incident.groups_count }}
{% endif %}\
{% if event.incident.unknown_reason %}\
Its value is not known at the moment: {{ event.incident.unknown_reason }}
{% endif %}\
Since {{ event.incident.started_at|date:"Y-m-d H:i:s" }} UTC\
{% if event.incident.resolved_at %}, until {{ event.incident.resolved_at|date:"Y-m-d H:i:s" }} UTC{% endif %}
{% if event.incident.owner %}Owner: {{ event.incident.owner }}
{% endif %}\
{% if event.incident.note %}Note: {{ event.incident.note }}
{% endif %}\
{% if event.incident.runbook_url %}Runbook: {{ event.incident.runbook_url }}
{% endif %}\
{% if event.incident.url %}{{ event.incident.url }}
{% endif %}
{% endfor %}\
{% if others %}And {{ others }} more, which are not named here.
{% endif %}\
{% if rule.note %}{{ rule.note }}
{% endif %}\
{% if rule.runbook_url %}Runbook of the rule: {{ rule.runbook_url }}
{% endif %}"""


# A sample message without a real incident: for tests of channels, and for trying templates.

NAME = "Test of a channel"
EVIDENCE = "This tests the channel: no group is behind."
# Marks every sample, so that nobody mistakes it for a real incident.
NOBODY = UUID(int=0)


def sample_payload(delivery_id: UUID, number: int, channel: Channel, by: str, now: datetime) -> Payload:
    """The sample fires, so that receivers show it; Alertmanager resolves it by itself."""
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
    sample: dict[str, Any] = payload_of(delivery_id, number, channel, None, [event], is_test=True)
    sample["events"][0]["incident"]["url"] = None
    return sample
