"""The roles: Django groups viewer, operator and admin, each with the permissions that exist so far."""

from django.db import migrations

# Tokens are seen and withdrawn by admins only.
VIEWED = [
    "assignment",
    "broker",
    "client",
    "cluster",
    "consumergroup",
    "groupstate",
    "grouptotal",
    "groupwindow",
    "lease",
    "pipelinerun",
    "queue",
    "queuesnapshot",
    "queuestate",
    "reading",
    "statechange",
    "topic",
]
VIEWER = [("consumers", model, f"view_{model}") for model in VIEWED]
ADMIN = [
    *VIEWER,
    ("consumers", "cluster", "manage_clusters"),
    ("consumers", "apitoken", "view_apitoken"),
    ("consumers", "apitoken", "delete_apitoken"),
    *[("auth", "user", f"{verb}_user") for verb in ("add", "change", "delete", "view")],
]
ROLES = {"viewer": VIEWER, "operator": VIEWER, "admin": ADMIN}


def make_roles(apps, schema_editor):
    """Django makes permissions after all migrations; those that are needed here are made here, and found there."""
    content_types = apps.get_model("contenttypes", "ContentType").objects
    permissions = apps.get_model("auth", "Permission").objects
    for role, granted in ROLES.items():
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=role)
        for app, model, codename in granted:
            content_type, _ = content_types.get_or_create(app_label=app, model=model)
            name = f"Can {codename.replace('_', ' ')}"
            if codename == "manage_clusters":
                name = "Can add, change and remove clusters"
            permission, _ = permissions.get_or_create(
                content_type=content_type, codename=codename, defaults={"name": name}
            )
            group.permissions.add(permission)


def remove_roles(apps, schema_editor):
    apps.get_model("auth", "Group").objects.filter(name__in=ROLES).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("consumers", "0002_cluster_permission"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
