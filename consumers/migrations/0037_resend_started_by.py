"""Who started a re-send, whose permission is asked again at each batch. Of those under way it was whoever planned it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import F


def name_starters(apps, schema_editor):
    started = apps.get_model("consumers", "Resend").objects.filter(started_at__isnull=False)
    started.update(started_by=F("by"), started_by_name=F("by_name"))


class Migration(migrations.Migration):
    dependencies = [("consumers", "0036_clocks"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.AddField(
            model_name="resend",
            name="started_by",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name="resend",
            name="started_by_name",
            field=models.CharField(help_text="As the user was called then", max_length=150, null=True),
        ),
        migrations.RunPython(name_starters, migrations.RunPython.noop),
    ]
