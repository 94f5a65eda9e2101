"""What was stored as sentences is stored as codes.

A text that is not among these stays as it is, and is shown as it is: states are made anew by the next run, which
writes codes. So do the numbers of states (`detail`); those of changes keep the texts of `blocked_by` and `owner`.
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
COLUMNS = (
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


def to_codes(apps, schema_editor):
    for column in COLUMNS:
        replaced(apps, column, column[2])


def to_texts(apps, schema_editor):
    for column in COLUMNS:
        replaced(apps, column, {code: text for text, code in column[2].items()})


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
        migrations.RunPython(to_codes, to_texts),
    ]
