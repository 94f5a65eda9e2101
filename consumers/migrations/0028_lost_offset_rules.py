"""Lost offsets in groups' sums, as a measure of brokers with the rule that the site comes with, and who took note."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

KEY, NAME = "offsets_lost", "Offsets lost"
NOTE = (
    "Committed offsets that were read before are gone from the broker: its file was lost, or a slave without them took"
    " over. Members that start now begin where ConsumeFromWhere says. Reset each group to its past position before."
)
VIEW, ROLES = "view_lossacknowledgement", ("viewer", "operator", "admin")
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
    ("lost_queues", "Lost"),
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
        measure="lost_queues",
        comparison="above",
        threshold=0,
        severity="critical",
        note=NOTE,
        changed_at=timezone.now(),
    )


def remove(apps, schema_editor):
    """Rules of people that look at the measure go too: nothing knows it any more."""
    apps.get_model("consumers", "AlertRule").objects.filter(measure="lost_queues").delete()


def grant(apps, schema_editor):
    """Every role may see who took note of which losses."""
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="consumers", model="lossacknowledgement"
    )
    permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=content_type, codename=VIEW, defaults={"name": "Can view loss acknowledgement"}
    )
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
        group.permissions.add(permission)


def withdraw(apps, schema_editor):
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
        group.permissions.remove(*group.permissions.filter(content_type__app_label="consumers", codename=VIEW))


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("consumers", "0027_lost_offsets"),
    ]

    operations = [
        migrations.AddField(
            "grouptotal",
            "lost_queues",
            models.IntegerField(default=0, help_text="Whose offset was read before and is gone from its broker"),
        ),
        migrations.CreateModel(
            name="LossAcknowledgement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("by_name", models.CharField(max_length=150)),
                (
                    "queues",
                    models.JSONField(
                        help_text="[{topic, broker, queue_id, lost_offset, lost_at}] of what was lost by then"
                    ),
                ),
                (
                    "applied_at",
                    models.DateTimeField(
                        null=True, help_text="The reading that the queues count as never committed from"
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="loss_acknowledgements",
                        to="consumers.consumergroup",
                    ),
                ),
            ],
            options={"ordering": ["-at", "-pk"]},
        ),
        migrations.AlterField("alertrule", "measure", models.CharField(choices=MEASURES, max_length=30)),
        migrations.AlterField("incident", "measure", models.CharField(choices=MEASURES, max_length=30)),
        migrations.RunPython(make, remove),
        migrations.RunPython(grant, withdraw),
    ]
