"""Since when messages wait behind each consumer offset: what is polled tells so while evaluations are late."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("consumers", "0028_lost_offset_rules")]

    operations = [
        migrations.AddField(
            model_name="queuesnapshot",
            name="waiting_since",
            field=models.DateTimeField(
                help_text="The first reading that had this consumer offset with a lag; null without one", null=True
            ),
        ),
    ]
