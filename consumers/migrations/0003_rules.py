"""Rules that the site comes with. People may change each and switch it off: it is made once, here."""

from django.conf import settings
from django.db import migrations
from django.utils import timezone

from consumers.words.alerts import BUILT_IN_RULES

ABOVE, BELOW, IN = "above", "below", "in"
MINUTE, HOUR = 60, 3600

# key, measure, comparison, threshold (or the judging setting that it is) or states, clear_threshold, for_seconds,
# severity, enabled. Names and notes are in BUILT_IN_RULES.
RULES = [
    ("messages_lost", "state", IN, ["LOSS"], None, 0, "critical", True),
    ("stopped", "state", IN, ["STOP"], None, 5 * MINUTE, "critical", True),
    ("stalled", "state", IN, ["STALL"], None, 5 * MINUTE, "critical", True),
    ("falling_behind", "state", IN, ["WARN"], None, 15 * MINUTE, "warning", True),
    ("went_back", "state", IN, ["REWIND"], None, 0, "warning", True),
    ("created_anew", "state", IN, ["RECREATED"], None, 0, "info", True),
    ("expires_within_hours", "expires_in_seconds", BELOW, 4 * HOUR, 6 * HOUR, 0, "critical", True),
    ("expires_within_a_day", "expires_in_seconds", BELOW, 24 * HOUR, 26 * HOUR, 5 * MINUTE, "warning", True),
    ("expires_unconsumed", "expires_unconsumed_seconds", BELOW, 48 * HOUR, 52 * HOUR, 15 * MINUTE, "warning", True),
    ("dead_letters", "dlq_inflow_messages", ABOVE, 0, None, 0, "warning", True),
    ("many_retries", "retry_share", ABOVE, 0.1, 0.05, 15 * MINUTE, "warning", True),
    ("rebalancing", "rebalance_episodes_hour", ABOVE, 5, 3, 0, "warning", True),
    ("doubly_owned", "doubly_owned_queues", ABOVE, 0, None, 3 * MINUTE, "critical", True),
    ("not_known", "unknown_seconds", ABOVE, 2 * MINUTE, None, 0, "warning", True),
    ("broker_unread", "broker_unread_seconds", ABOVE, 2 * MINUTE, 30, 0, "critical", True),
    ("name_server_unread", "name_server_unread_seconds", ABOVE, 2 * MINUTE, None, 0, "warning", True),
    ("not_polled", "reading_age_seconds", ABOVE, 2 * MINUTE, None, 0, "critical", True),
    ("not_judged", "judgement_age_seconds", ABOVE, 5 * MINUTE, None, 0, "critical", True),
    # Each disabled rule reports the trouble of an enabled one, earlier or later: enable it instead of that one.
    ("time_lag", "time_lag_seconds", ABOVE, 10 * MINUTE, 5 * MINUTE, 5 * MINUTE, "warning", False),
    ("lag_messages", "lag_messages", ABOVE, 100_000, 50_000, 5 * MINUTE, "warning", False),
    ("drains_slowly", "drain_seconds", ABOVE, 4 * HOUR, 3 * HOUR, 30 * MINUTE, "warning", False),
    ("expired", "expired_messages", ABOVE, 0, None, 0, "critical", False),
    ("unowned", "unowned_queues", ABOVE, 0, None, 3 * MINUTE, "warning", False),
    ("blocked", "blocked_seconds", ABOVE, 10 * MINUTE, None, 0, "warning", False),
    ("no_members", "members", BELOW, 1, None, 5 * MINUTE, "warning", False),
    ("unsettled", "unsettled_seconds", ABOVE, "unsettled_after_seconds", None, 0, "warning", True),
    ("offsets_lost", "lost_queues", ABOVE, 0, None, 0, "critical", True),
    ("findings_critical", "findings", ABOVE, 0, None, 2 * MINUTE, "critical", True),
    ("findings", "findings", ABOVE, 0, None, 2 * MINUTE, "warning", True),
]
# What these count: codes and severities, without those after a minus, which other rules report.
LOSING = ["retries_discarded", "duplicate_client_ids"]
REPORTED = [*LOSING, "lost_offsets", "doubly_owned"]
FINDINGS = {
    "findings_critical": LOSING,
    "findings": ["critical", "warning", *(f"-{code}" for code in REPORTED)],
}


def make(apps, schema_editor):
    """Where somebody gave another rule that name, theirs stays, and this one is not made."""
    rules = apps.get_model("consumers", "AlertRule").objects
    now = timezone.now()
    for key, measure, comparison, limit, clear, wait, severity, enabled in RULES:
        name, note = BUILT_IN_RULES[key]
        if rules.filter(key=key).exists() or rules.filter(name=name).exists():
            continue
        rules.create(
            key=key,
            name=name,
            enabled=enabled,
            measure=measure,
            comparison=comparison,
            threshold=None if comparison == IN else settings.JUDGE.get(limit, limit),
            states=limit if comparison == IN else None,
            findings=FINDINGS.get(key, []),
            clear_threshold=clear,
            for_seconds=wait,
            severity=severity,
            note=note,
            changed_at=now,
        )


def remove(apps, schema_editor):
    apps.get_model("consumers", "AlertRule").objects.filter(key__in=[rule[0] for rule in RULES]).delete()


class Migration(migrations.Migration):
    dependencies = [("consumers", "0002_roles")]

    operations = [migrations.RunPython(make, remove)]
