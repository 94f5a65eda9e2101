"""What was stored as sentences is stored as codes.

A text that is not among these stays as it is, and is shown as it is. Polls and runs write codes over texts of what is of
now: of snapshots, sums and states with their `detail`. What is of the past keeps its texts: `detail` of changes, and
`volumes_unknown` of windows. So do windows and readings in Parquet: a text there is taken for no code.
"""

from django.db import migrations, models
from django.db.models import Case, Value, When

RULES = {
    "its progress is kept outside the brokers": "progress_outside",
    "no member reports its offset to the broker": "not_reported",
    "not read": "not_read",
    "offset lost": "offset_lost",
    "too few readings to judge": "too_few_readings",
    "topic created anew": "topic_recreated",
    "never committed": "never_committed",
    "the broker has no such queue": "no_such_queue",
    "lag not known": "lag_unknown",
    "ghost: nobody consumes here any more": "inactive",
    "offset went back": "offset_went_back",
    "unread messages have expired": "messages_expired",
    "moved up to the oldest message": "moved_to_oldest",
    "popped to the end; acks are not in the offset": "popped_to_end",
    "caught up": "caught_up",
    "within the allowance": "within_threshold",
    "within the allowance a moment ago": "within_threshold_before",
    "paused by configuration": "paused",
    "offline by habit": "offline_by_habit",
    "no members": "no_members",
    "nobody owns the queue": "no_owner",
    "still, owner unread": "owner_unknown",
    "falling behind": "falling_behind",
    "behind, not draining": "not_draining",
    "behind, draining": "draining",
    "behind, for how long is not known": "time_lag_unbounded",
    "behind": "lagging",
    "no queue of its own topics was read": "no_own_queue",
}
REASONS = {
    "never committed": "never_committed",
    "the broker has no such topic": "topic_gone",
    "not among the topic's read queues": "queue_gone",
    "the committed offset is gone from the broker": "offset_lost",
    "no member reports its offset to the broker": "not_reported",
    "the consumer offset is ahead of the broker offset": "consumer_ahead",
    "the slave that was read has not caught up with what its master had said": "slave_behind",
    "the broker did not give this queue's offset": "no_broker_offset",
    "no offset of this group is on any broker": "no_offsets",
    "no member subscribes to a topic that it has offsets of": "retired_only",
    "not read": "not_read",
    "a broker of this group was not read": "broker_unread",
    "time lag: older than the known history": "time_lag_at_least",
    "time lag: not known of every queue": "time_lag_unknown",
}
CAUSES = {"queue count": "queue_count", "pull stuck": "pull_stuck"}
COLUMNS = (
    ("QueueSnapshot", "unknown_reason", REASONS),
    ("GroupTotal", "unknown_reason", REASONS),
    ("GroupWindow", "unknown_reason", REASONS),
    ("QueueState", "rule", RULES),
    ("GroupState", "rule", RULES),
    ("StateChange", "rule", RULES),
)


def replaced(apps, column, texts):
    """One statement a table: a site may have a million states."""
    model, name, _ = column
    whens = [When(**{name: before}, then=Value(after)) for before, after in texts.items()]
    found = apps.get_model("consumers", model).objects.order_by().filter(**{f"{name}__in": list(texts)})
    found.update(**{name: Case(*whens, output_field=models.TextField())})


def renamed(apps, causes):
    """Of rebalances: `cause` may be several, and each entry of the evidence names its own."""
    rebalances = apps.get_model("consumers", "Rebalance").objects.order_by()
    for before, after in causes.items():
        for row in rebalances.filter(cause__contains=before).iterator():
            row.cause = row.cause.replace(before, after)
            row.evidence = [one | {"cause": causes.get(one.get("cause"), one.get("cause"))} for one in row.evidence]
            row.save(update_fields=["cause", "evidence"])


def to_codes(apps, schema_editor):
    for column in COLUMNS:
        replaced(apps, column, column[2])
    renamed(apps, CAUSES)


def to_texts(apps, schema_editor):
    for column in COLUMNS:
        replaced(apps, column, {code: text for text, code in column[2].items()})
    renamed(apps, {code: text for text, code in CAUSES.items()})


class Migration(migrations.Migration):

    dependencies = [
        ("consumers", "0004_history_of_months"),
    ]

    operations = [
        migrations.AlterField(
            model_name="queuestate",
            name="rule",
            field=models.CharField(help_text="The code of the rule that decided", max_length=60),
        ),
        migrations.AlterField(
            model_name="rebalance",
            name="cause",
            field=models.CharField(help_text="The codes of all causes, the first to be named first", max_length=200),
        ),
        migrations.RunPython(to_codes, to_texts),
    ]
