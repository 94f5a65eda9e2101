"""Previews that are done, as their rows tell what was found, and the page that shows one."""

from consumers.models import RulePreview
from tests.alert_rows import a_preview
from tests.world import NOW, ago

RULE = {"name": "Slow", "measure": "time_lag_seconds", "comparison": "above", "threshold": 600.0}
RULE |= {"severity": "critical", "for_seconds": 300.0, "clear_seconds": 300.0, "group_pattern": "bill*"}
BILLING = {"kind": "group", "title": "billing", "cluster": "prod", "group": "billing"}
AUDIT = {"kind": "group", "title": "audit", "cluster": "prod", "group": "audit"}


def incident(subject, fired, over, worst=900.0):
    moments = {"from": ago(fired + 300), "fired_at": ago(fired), "to": None if over is None else ago(over)}
    told = {name: None if at is None else at.isoformat() for name, at in moments.items()}
    return {"subject": subject, **told, "worst_value": worst, "unknown": {}}


def a_day(day, fired, alone=0, unknown_share=0.0):
    return {"day": day, "fired": fired, "fired_excluded": alone, "unknown_share": unknown_share, "unknown": {}}


def data(begin, end, seconds=None):
    """Of a day that ends now: there was data from `begin` to `end` seconds before now, without gaps unless told."""
    known = begin - end if seconds is None else seconds
    spans = [(86_400, begin), (end, 0)]
    return {
        "known_from": ago(begin).isoformat(),
        "known_to": ago(end).isoformat(),
        "known_seconds": known,
        "unknown_seconds": 86_400 - known,
        "unknown_spans": [{"from": ago(a).isoformat(), "to": ago(b).isoformat()} for a, b in spans if a > b],
    }


def done(**said):
    result = {
        "fired": 3,
        "subjects": 40,
        "unknown_subjects": 0,
        "unknown_share": 0.0,
        "unknown_share_in_data": 0.0,
        **data(86_400, 0),
        "step_seconds": 60,
        "incidents": [incident(BILLING, 600, None), incident(AUDIT, 40_000, 38_000), incident(BILLING, 80_000, 79_000)],
        "left_out": 0,
        "unknown": {},
        "by_subject": [{"subject": BILLING, "fired": 2}, {"subject": AUDIT, "fired": 1}],
        "per_day": [a_day("2026-03-13", 2), a_day("2026-03-14", 1)],
        "evaluated": None,
        "fired_excluded": 0,
        "fired_subjects": 2,
    }
    row = a_preview(rule=RULE, status="done", result=result | said, seconds=4.2, finished_at=NOW)
    RulePreview.objects.filter(pk=row.pk).update(since=ago(86_400), until=NOW)
    return row


def shown(client, row):
    return client.get(f"/alerts/previews/{row.pk}/").content.decode()
