"""What clocks of machines showed when they were watched, their changes, and for how long a lease was taken."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('consumers', '0035_group_thresholds'),
    ]

    operations = [
        migrations.CreateModel(
            name='ClockChange',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(help_text='What the clock shows since')),
                ('before', models.DateTimeField(help_text='What it would show else; or the newest time that was recorded')),
                ('machine', models.CharField(max_length=255)),
                ('seconds', models.FloatField(help_text='By how much it was set forward; below zero: back')),
                ('measured', models.BooleanField(help_text='False: nobody saw it change, and recorded times tell the least')),
                ('void', models.JSONField(default=dict, help_text='{model: rows} whose times had yet to come')),
                ('files', models.IntegerField(help_text='Of history that were set aside; null: not yet', null=True)),
            ],
            options={
                'ordering': ['-at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='MachineClock',
            fields=[
                ('boot', models.CharField(max_length=100, primary_key=True, serialize=False)),
                ('name', models.CharField(help_text="The host's name", max_length=255)),
                ('seen_at', models.DateTimeField(help_text='What its clock showed when it was last watched')),
                ('uptime_seconds', models.FloatField(help_text='At that moment')),
                ('steady_seconds', models.FloatField(help_text='For so long the clock has gone as the uptime did, since the doubt')),
                ('doubt', models.CharField(choices=[('new', 'New'), ('gap', 'Gap'), ('changed', 'Changed'), ('differs', 'Differs')], help_text='The newest reason not to trust it', max_length=8)),
                ('doubt_at', models.DateTimeField()),
                ('ahead_until', models.DateTimeField(help_text='The newest recorded time, where that has yet to come', null=True)),
                ('ahead_uptime_seconds', models.FloatField(help_text='When that was first noticed', null=True)),
            ],
        ),
        migrations.AddField(
            model_name='lease',
            name='seconds',
            field=models.FloatField(help_text='For how long it was taken: one with more left was taken by a clock that was ahead', null=True),
        ),
    ]
