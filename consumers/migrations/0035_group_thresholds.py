"""Thresholds of single groups: every role may look at them, who manages alerts may change them."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

ALL, OPERATING = ("viewer", "operator", "admin"), ("operator", "admin")
GRANTED = [
    ("view", "groupthresholds", ALL),
    ("add", "groupthresholds", OPERATING),
    ("change", "groupthresholds", OPERATING),
    ("delete", "groupthresholds", OPERATING),
    ("view", "grouphealth", ALL),
]


def grant(apps, schema_editor):
    for act, model, roles in GRANTED:
        content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
            app_label="consumers", model=model
        )
        permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
            content_type=content_type, codename=f"{act}_{model}", defaults={"name": f"Can {act} {model}"}
        )
        for group in apps.get_model("auth", "Group").objects.filter(name__in=roles):
            group.permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [("consumers", "0033_audit_events")]

    operations = [
        migrations.CreateModel(
            name="GroupThresholds",
            fields=[
                ("group", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="thresholds", serialize=False, to="consumers.consumergroup")),
                ("allowance_seconds", models.FloatField(blank=True, help_text="A time lag up to this is OK. Empty: CONSUMERSCOPE_ALLOWANCE_SECONDS", null=True, validators=[django.core.validators.MinValueValidator(0)])),
                ("behind_seconds", models.FloatField(blank=True, help_text="A time lag above this that does not drain is WARN. Empty: CONSUMERSCOPE_BEHIND_SECONDS", null=True, validators=[django.core.validators.MinValueValidator(0)])),
            ],
            options={"verbose_name": "thresholds of a group", "verbose_name_plural": "thresholds of groups"},
        ),
        migrations.RunPython(grant, migrations.RunPython.noop),
    ]
