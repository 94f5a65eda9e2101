"""Rules that the site comes with. People may change each and switch it off: it is made once, here."""

from django.conf import settings
from django.db import migrations
from django.utils import timezone

ABOVE, BELOW, IN = "above", "below", "in"
MINUTE, HOUR = 60, 3600

# key, name, measure, comparison, threshold (or the judging setting that it is) or states, clear_threshold, for_seconds, severity, enabled, note
RULES = [
    ("messages_lost", "Messages lost", "state", IN, ["LOSS"], None, 0, "critical", True,
     "Brokers deleted messages that the group had not consumed. Nothing brings them back."),
    ("stopped", "Stopped", "state", IN, ["STOP"], None, 5 * MINUTE, "critical", True,
     "Messages wait, and the group has no member. Start one, or find out why all of them left."),
    ("stalled", "Stalled", "state", IN, ["STALL"], None, 5 * MINUTE, "critical", True,
     "Messages wait, members are there, and an offset does not move. The group's page says which queue, and why."),
    ("falling_behind", "Falling behind", "state", IN, ["WARN"], None, 15 * MINUTE, "warning", True,
     "Less is consumed than is produced, and the time lag rises."),
    ("went_back", "Offset went back", "state", IN, ["REWIND"], None, 0, "warning", True,
     "Messages are consumed again, and nobody reset the group here."),
    ("created_anew", "Topic recreated", "state", IN, ["RECREATED"], None, 0, "info", True,
     "Committed offsets belong to messages that are gone: compare them with the queue's ends."),
    ("expires_within_hours", "Expires within 4 hours", "expires_in_seconds", BELOW, 4 * HOUR, 6 * HOUR, 0, "critical",
     True, "Brokers may soon delete what the group has not consumed: consume it, or keep messages for longer."),
    ("expires_within_a_day", "Expires within a day", "expires_in_seconds", BELOW, 24 * HOUR, 26 * HOUR, 5 * MINUTE,
     "warning", True, "Brokers may delete tomorrow what the group has not consumed."),
    ("expires_unconsumed", "Expires unconsumed within 2 days", "expires_unconsumed_seconds", BELOW, 48 * HOUR, 52 * HOUR,
     15 * MINUTE, "warning", True,
     "As the time lag rises now, brokers will delete messages before the group consumes them: let it consume faster, or keep"
     " messages for longer."),
    ("dead_letters", "Dead letters", "dlq_inflow_messages", ABOVE, 0, None, 0, "warning", True,
     "Messages used up their retries. The group's page lists them."),
    ("many_retries", "Many retries", "retry_share", ABOVE, 0.1, 0.05, 15 * MINUTE, "warning", True,
     "More than one redelivery for ten messages consumed, over the last hour."),
    ("rebalancing", "Frequent rebalances", "rebalance_episodes_hour", ABOVE, 5, 3, 0, "warning", True,
     "Members come and go: while they share queues anew, some are consumed by nobody and some messages twice."),
    ("doubly_owned", "Queues with two owners", "doubly_owned_queues", ABOVE, 0, None, 3 * MINUTE, "critical", True,
     "Their messages are consumed twice. The group's Ownership tab says why."),
    ("not_known", "State unknown", "unknown_seconds", ABOVE, 2 * MINUTE, None, 0, "warning", True,
     "Its brokers are scraped, but its state is unknown. The reason is shown beside it."),
    ("broker_unread", "Broker not scraped", "broker_unread_seconds", ABOVE, 2 * MINUTE, 30, 0, "critical", True,
     "Its queues are unknown: it is down, or does not answer Consumerscope."),
    ("name_server_unread", "No name server", "name_server_unread_seconds", ABOVE, 2 * MINUTE, None, 0, "warning", True,
     "Known brokers are still scraped; one that moves or joins is not found."),
    ("not_polled", "Scrapes stopped", "reading_age_seconds", ABOVE, 2 * MINUTE, None, 0, "critical", True,
     "The poll worker is behind or not running: no lag that is shown is current."),
    ("not_judged", "Evaluation stale", "judgement_age_seconds", ABOVE, 5 * MINUTE, None, 0, "critical", True,
     "The pipeline is behind or not running: states and time lags are not current."),
    # Those that follow tell of the same trouble as one above, earlier or later: choose them instead of it.
    ("time_lag", "Time lag above 10 minutes", "time_lag_seconds", ABOVE, 10 * MINUTE, 5 * MINUTE, 5 * MINUTE, "warning",
     False, "Oldest message waits for more than ten minutes."),
    ("lag_messages", "More than 100,000 messages behind", "lag_messages", ABOVE, 100_000, 50_000, 5 * MINUTE, "warning",
     False, "How long they wait depends on the topic: a rule of time lag tells that."),
    ("drains_slowly", "Drains for more than 4 hours", "drain_seconds", ABOVE, 4 * HOUR, 3 * HOUR, 30 * MINUTE,
     "warning", False, "It catches up, but slowly."),
    ("expired", "Messages expired", "expired_messages", ABOVE, 0, None, 0, "critical", False,
     "Messages below the oldest that is kept were not consumed."),
    ("unowned", "Queues without an owner", "unowned_queues", ABOVE, 0, None, 3 * MINUTE, "warning", False,
     "No member consumes them. The group's Ownership tab says why."),
    ("blocked", "Message stuck", "blocked_seconds", ABOVE, 10 * MINUTE, None, 0, "warning", False,
     "A member has held the same oldest message for more than ten minutes."),
    ("no_members", "No members", "members", BELOW, 1, None, 5 * MINUTE, "warning", False,
     "The group has no member, whether messages wait or not."),
    ("unsettled", "Group not stabilising", "unsettled_seconds", ABOVE, "unsettled_after_seconds", None, 0, "warning", True,
     "Members go on starting and stopping with less than a minute between two: a crash loop, mostly. While they do, queues"
     " are shared anew again and again. The group's rebalances say which members come and go."),
    ("offsets_lost", "Offsets lost", "lost_queues", ABOVE, 0, None, 0, "critical", True,
     "Committed offsets that were read before are gone from the broker: its file was lost, or a slave without them took"
     " over. Members that start now begin where ConsumeFromWhere says. Reset each group to its past position before."),
    ("findings_critical", "Messages discarded or client ids duplicate", "findings", ABOVE, 0, None, 2 * MINUTE,
     "critical", True,
     "Brokers discard failed messages, or processes share a client id. The group's page says which, and what to do."),
    ("findings", "Findings", "findings", ABOVE, 0, None, 2 * MINUTE, "warning", True,
     "A check found something wrong. The Findings page says what, since when, and what to do."),
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
    for key, name, measure, comparison, limit, clear, wait, severity, enabled, note in RULES:
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
