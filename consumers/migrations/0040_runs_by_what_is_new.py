"""Which reading a run knew last: the next one begins with those that came since, or has nothing to do."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consumers", "0035_group_thresholds")]

    operations = [
        migrations.AddField(
            model_name="pipelinerun",
            name="newest_reading",
            field=models.BigIntegerField(help_text="The key of the newest reading that it knew of", null=True),
        ),
        migrations.AddField(
            model_name="pipelinerun",
            name="skipped",
            field=models.BooleanField(default=False, help_text="Nothing was done, as there was no new reading"),
        ),
    ]
