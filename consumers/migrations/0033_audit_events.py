"""Who did what, in rows that outlive their user. What Django's log of actions has is copied, with the users' names."""

from django.contrib.admin.models import LogEntry
from django.db import migrations, models

ACTIONS = {1: "added", 2: "changed", 3: "deleted", 4: "seen"}
AT_ONCE = 2000


def copy_log(apps, schema_editor):
    event_of, rows = apps.get_model("consumers", "AuditEvent"), []
    entries = apps.get_model("admin", "LogEntry").objects.select_related("user", "content_type").order_by("pk")
    for entry in entries.iterator(chunk_size=AT_ONCE):
        rows.append(
            event_of(
                at=entry.action_time,
                by_name=entry.user.username,
                action=ACTIONS.get(entry.action_flag, "changed"),
                subject_kind=entry.content_type.model if entry.content_type else "",
                subject_id=entry.object_id,
                subject=entry.object_repr,
                sentence=_sentence(entry),
            )
        )
        if len(rows) == AT_ONCE:
            event_of.objects.bulk_create(rows)
            rows.clear()
    event_of.objects.bulk_create(rows)


def _sentence(entry):
    """Django keeps no words for what was deleted, and codes for what its own pages changed."""
    if entry.action_flag == 3:
        return "Deleted."
    return LogEntry(action_flag=entry.action_flag, change_message=entry.change_message).get_change_message()


def grant(apps, schema_editor):
    _move(apps, ("admin", "logentry", "view_logentry"), ("consumers", "auditevent", "view_auditevent"))


def withdraw(apps, schema_editor):
    _move(apps, ("consumers", "auditevent", "view_auditevent"), ("admin", "logentry", "view_logentry"))


def _move(apps, old, new):
    """Who administers sees what was done, and nobody else."""
    permissions = apps.get_model("auth", "Permission").objects
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label=new[0], model=new[1]
    )
    name = "Can view log entry" if new[1] == "logentry" else "Can view audit event"
    granted, _ = permissions.get_or_create(content_type=content_type, codename=new[2], defaults={"name": name})
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(granted)
        group.permissions.remove(*permissions.filter(content_type__app_label=old[0], codename=old[2]))


class Migration(migrations.Migration):
    dependencies = [
        ("consumers", "0032_moves"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("by_name", models.CharField(help_text="As the user was called then", max_length=150)),
                ("action", models.CharField(choices=[("added", "Added"), ("changed", "Changed"), ("deleted", "Deleted"), ("seen", "Seen")], max_length=10)),
                ("subject_kind", models.CharField(help_text="The model of what it is about, as alertrule", max_length=100)),
                ("subject_id", models.CharField(help_text="Null: it is no row", max_length=255, null=True)),
                ("subject", models.CharField(help_text="As it was called then", max_length=200)),
                ("sentence", models.TextField()),
            ],
            options={
                "ordering": ["-at", "-pk"],
                "indexes": [models.Index(fields=["-at", "-id"], name="consumers_a_at_99e417_idx"), models.Index(fields=["subject_kind", "subject_id"], name="consumers_a_subject_e18165_idx")],
            },
        ),
        migrations.RunPython(copy_log, migrations.RunPython.noop),
        migrations.RunPython(grant, withdraw),
    ]
