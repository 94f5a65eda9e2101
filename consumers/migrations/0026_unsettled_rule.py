"""A measure of groups that do not come to rest, and the rule of it that the site comes with, made once, here."""

from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

KEY, NAME = "unsettled", "Rebalances without end"
NOTE = (
    "Members go on starting and stopping with less than a minute between two: a crash loop, mostly. While they do, queues"
    " are shared anew again and again. The group's rebalances say which members come and go."
)
MEASURES = [
    ("state", "State"),
    ("lag_messages", "Lag"),
    ("time_lag_seconds", "Time Lag"),
    ("expires_in_seconds", "Expiry"),
    ("drain_seconds", "Drain"),
    ("expired_messages", "Expired"),
    ("retry_share", "Retry Share"),
    ("dlq_inflow_messages", "Dlq Inflow"),
    ("rebalance_episodes_hour", "Rebalances"),
    ("unsettled_seconds", "Unsettled"),
    ("unowned_queues", "Unowned"),
    ("doubly_owned_queues", "Doubly Owned"),
    ("blocked_seconds", "Blocked"),
    ("members", "Members"),
    ("unknown_seconds", "Unknown"),
    ("broker_unread_seconds", "Broker Unread"),
    ("name_server_unread_seconds", "Name Server"),
    ("reading_age_seconds", "Reading Age"),
    ("judgement_age_seconds", "Judgement Age"),
]


def make(apps, schema_editor):
    """Where somebody gave another rule that name, theirs stays, and this one is not made."""
    rules = apps.get_model("consumers", "AlertRule").objects
    if rules.filter(key=KEY).exists() or rules.filter(name=NAME).exists():
        return
    rules.create(
        key=KEY,
        name=NAME,
        enabled=True,
        measure="unsettled_seconds",
        comparison="above",
        threshold=settings.JUDGE["unsettled_after_seconds"],
        severity="warning",
        note=NOTE,
        changed_at=timezone.now(),
    )


def remove(apps, schema_editor):
    """Rules of people that look at the measure go too: nothing knows it any more."""
    apps.get_model("consumers", "AlertRule").objects.filter(measure="unsettled_seconds").delete()


class Migration(migrations.Migration):
    dependencies = [("consumers", "0025_previews_cancelled")]

    operations = [
        migrations.AlterField("alertrule", "measure", models.CharField(choices=MEASURES, max_length=30)),
        migrations.AlterField("incident", "measure", models.CharField(choices=MEASURES, max_length=30)),
        migrations.RunPython(make, remove),
    ]
