"""Operators may take thread dumps of clients; and how much a client holds of a queue, in MiB, as it says."""

from django.contrib.auth.management import create_permissions
from django.db import migrations, models

ROLES = ("operator", "admin")


def grant(apps, schema_editor):
    """Django makes permissions after all migrations; this one is needed here."""
    config = apps.get_app_config("consumers")
    config.models_module = True
    create_permissions(config, apps=apps, verbosity=0, using=schema_editor.connection.alias)
    config.models_module = None
    permission = apps.get_model("auth", "Permission").objects.get(codename="dump_threads")
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
        group.permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [("consumers", "0004_finding_rules")]

    operations = [
        migrations.AlterModelOptions(
            name="client",
            options={"permissions": [("dump_threads", "Can take thread dumps of clients")]},
        ),
        migrations.AddField("assignment", "cached_mib", models.BigIntegerField(null=True)),
        migrations.RunPython(grant, migrations.RunPython.noop),
    ]
