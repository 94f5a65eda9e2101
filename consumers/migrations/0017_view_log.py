"""Who administers sees who looked at which body of a message."""

from django.db import migrations


def grant(apps, schema_editor):
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="admin", model="logentry"
    )
    permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=content_type, codename="view_logentry", defaults={"name": "Can view log entry"}
    )
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.add(permission)


def withdraw(apps, schema_editor):
    for group in apps.get_model("auth", "Group").objects.filter(name="admin"):
        group.permissions.remove(*group.permissions.filter(codename="view_logentry"))


class Migration(migrations.Migration):
    dependencies = [("consumers", "0016_standing_heads"), ("admin", "0003_logentry_add_action_flag_choices")]

    operations = [migrations.RunPython(grant, withdraw)]
