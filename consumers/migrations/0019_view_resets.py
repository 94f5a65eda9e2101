"""Every role may look at offset resets; who operates may plan and apply them."""

from django.db import migrations

ROLES = ("viewer", "operator", "admin")
VIEWED = ("reset", "resetevent", "resetqueue")
OPERATED = "reset_offsets"


def grant(apps, schema_editor):
    for model in VIEWED:
        _grant(apps, model, f"view_{model}", f"Can view {model}", ROLES)
    _grant(apps, "reset", OPERATED, "Can plan and apply offset resets", ("operator", "admin"))


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
    dependencies = [("consumers", "0018_resets")]

    operations = [migrations.RunPython(grant, withdraw)]
