"""Every role may look at rebalances and subscriptions, as at everything else that is read and judged."""

from django.db import migrations

ROLES = ("viewer", "operator", "admin")
VIEWED = ("clientsubscription", "rebalance", "rebalancetopic")


def grant(apps, schema_editor):
    content_types = apps.get_model("contenttypes", "ContentType").objects
    permissions = apps.get_model("auth", "Permission").objects
    for model in VIEWED:
        content_type, _ = content_types.get_or_create(app_label="consumers", model=model)
        permission, _ = permissions.get_or_create(
            content_type=content_type, codename=f"view_{model}", defaults={"name": f"Can view {model}"}
        )
        for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
            group.permissions.add(permission)


def withdraw(apps, schema_editor):
    codenames = [f"view_{model}" for model in VIEWED]
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
        group.permissions.remove(*group.permissions.filter(codename__in=codenames))


class Migration(migrations.Migration):
    dependencies = [("consumers", "0010_ownership")]

    operations = [migrations.RunPython(grant, withdraw)]
