"""Every role may look at alerts; who operates may manage them."""

from django.db import migrations

ROLES = ("viewer", "operator", "admin")
VIEWED = (
    "alertengine",
    "alertrule",
    "channel",
    "delivery",
    "deliveryattempt",
    "deliveryevent",
    "groupnote",
    "incident",
    "incidentevent",
    "rulepreview",
    "silence",
)
OPERATED = "manage_alerts"


def grant(apps, schema_editor):
    for model in VIEWED:
        _grant(apps, model, f"view_{model}", f"Can view {model}", ROLES)
    name = "Can manage alert rules, channels, silences and notes, and acknowledge"
    _grant(apps, "alertrule", OPERATED, name, ("operator", "admin"))


def _grant(apps, model, codename, name, roles):
    content_type, _ = apps.get_model("contenttypes", "ContentType").objects.get_or_create(
        app_label="consumers", model=model
    )
    permission, _ = apps.get_model("auth", "Permission").objects.get_or_create(
        content_type=content_type, codename=codename, defaults={"name": name}
    )
    for group in apps.get_model("auth", "Group").objects.filter(name__in=roles):
        group.permissions.add(permission)


def withdraw(apps, schema_editor):
    codenames = [*(f"view_{model}" for model in VIEWED), OPERATED]
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
        group.permissions.remove(
            *group.permissions.filter(content_type__app_label="consumers", codename__in=codenames)
        )


class Migration(migrations.Migration):
    dependencies = [("consumers", "0020_alerts")]

    operations = [migrations.RunPython(grant, withdraw)]
