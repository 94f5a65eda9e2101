"""Every role may look at retries and dead letters; who operates may see a message's body and re-send it."""

from django.db import migrations

ROLES = ("viewer", "operator", "admin")
VIEWED = (
    "deadletter",
    "deadletterlook",
    "delaylevel",
    "groupbroker",
    "headmessage",
    "resend",
    "resenditem",
    "rung",
)
OPERATED = {"view_message_body": ("deadletter", "Can see the bodies of messages")}
OPERATED |= {"resend_dead_letters": ("resend", "Can re-send dead letters")}


def grant(apps, schema_editor):
    for model in VIEWED:
        _grant(apps, model, f"view_{model}", f"Can view {model}", ROLES)
    for codename, (model, name) in OPERATED.items():
        _grant(apps, model, codename, name, ("operator", "admin"))


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
    codenames = [*(f"view_{model}" for model in VIEWED), *OPERATED]
    for group in apps.get_model("auth", "Group").objects.filter(name__in=ROLES):
        group.permissions.remove(
            *group.permissions.filter(content_type__app_label="consumers", codename__in=codenames)
        )


class Migration(migrations.Migration):
    dependencies = [("consumers", "0013_retries")]

    operations = [migrations.RunPython(grant, withdraw)]
