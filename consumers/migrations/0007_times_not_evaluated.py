from django.contrib.auth.management import create_permissions
from django.db import migrations, models

ROLES = ("viewer", "operator", "admin")


def grant(apps, schema_editor):
    """Every role sees them, as all that is evaluated."""
    config = apps.get_app_config("consumers")
    config.models_module = True
    create_permissions(config, apps=apps, verbosity=0, using=schema_editor.connection.alias)
    config.models_module = None
    found = apps.get_model("auth", "Permission").objects.get(codename="view_evaluationgap")
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
        group.permissions.add(found)


class Migration(migrations.Migration):
    dependencies = [("consumers", "0006_when_clusters_were_checked")]

    operations = [
        migrations.CreateModel(
            name="EvaluationGap",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("began_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField()),
            ],
            options={"indexes": [models.Index(fields=["ended_at"], name="consumers_e_ended_a_b8508a_idx")]},
        ),
        migrations.RunPython(grant, migrations.RunPython.noop),
    ]
