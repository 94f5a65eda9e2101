"""Rules of findings that the site comes with, beside those of 0003. Made once; people may change them."""

from django.db import migrations
from django.utils import timezone

# Other built-in rules report these: Offsets lost, and Queues with two owners.
REPORTED = ["-lost_offsets", "-doubly_owned"]
LOSING = ["retries_discarded", "duplicate_client_ids"]
# key, name, findings, for_seconds, severity, note
RULES = [
    ("findings_critical", "Messages discarded or client ids duplicate", LOSING, 120, "critical",
     "Brokers discard failed messages, or processes share a client id. The group's page says which, and what to do."),
    ("findings", "Findings", ["critical", "warning", *(f"-{code}" for code in LOSING), *REPORTED], 120, "warning",
     "A check found something wrong. The Findings page says what, since when, and what to do."),
]  # fmt: skip


def make(apps, schema_editor):
    """Where somebody gave another rule that name, theirs stays, and this one is not made."""
    rules = apps.get_model("consumers", "AlertRule").objects
    for key, name, findings, wait, severity, note in RULES:
        if rules.filter(key=key).exists() or rules.filter(name=name).exists():
            continue
        rules.create(
            key=key,
            name=name,
            measure="findings",
            comparison="above",
            threshold=0,
            findings=findings,
            for_seconds=wait,
            severity=severity,
            note=note,
            changed_at=timezone.now(),
        )


def remove(apps, schema_editor):
    apps.get_model("consumers", "AlertRule").objects.filter(key__in=[rule[0] for rule in RULES]).delete()


class Migration(migrations.Migration):
    dependencies = [("consumers", "0003_default_rules")]

    operations = [migrations.RunPython(make, remove)]
