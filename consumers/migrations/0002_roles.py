"""The roles: Django groups viewer, operator and admin, each with what it may do."""

from django.contrib.auth.management import create_permissions
from django.db import migrations

# Models that every role sees. Tokens, the audit, accounts of sign-on and roles for clusters are seen by admins only.
VIEWED = [
    "alertengine",
    "alertrule",
    "assignment",
    "broker",
    "brokerstatistic",
    "channel",
    "client",
    "clientsubscription",
    "clockchange",
    "cluster",
    "consumergroup",
    "deadletter",
    "deadletterlook",
    "delaylevel",
    "delivery",
    "deliveryattempt",
    "deliveryevent",
    "duewindow",
    "groupbroker",
    "grouphealth",
    "groupnote",
    "groupstate",
    "groupthresholds",
    "grouptotal",
    "groupwindow",
    "headmessage",
    "historysize",
    "incident",
    "incidentevent",
    "lease",
    "logevent",
    "logfile",
    "lossacknowledgement",
    "machineclock",
    "membershipgap",
    "offsetfile",
    "pipelinerun",
    "queue",
    "queuesample",
    "queuesnapshot",
    "queuestate",
    "reading",
    "rebalance",
    "rebalancetopic",
    "repeatevent",
    "resend",
    "resenditem",
    "reset",
    "resetevent",
    "resetqueue",
    "rulepreview",
    "rung",
    "savedfilter",
    "silence",
    "statechange",
    "storedfinding",
    "tagsample",
    "topic",
]
VIEWER = [("consumers", model, f"view_{model}") for model in VIEWED]
OPERATOR = [
    *VIEWER,
    ("consumers", "alertrule", "manage_alerts"),
    ("consumers", "client", "dump_threads"),
    ("consumers", "deadletter", "view_message_body"),
    ("consumers", "resend", "resend_dead_letters"),
    ("consumers", "reset", "reset_offsets"),
    *[("consumers", "groupthresholds", f"{verb}_groupthresholds") for verb in ("add", "change", "delete")],
]
ADMIN = [
    *OPERATOR,
    ("consumers", "cluster", "manage_clusters"),
    ("consumers", "apitoken", "view_apitoken"),
    ("consumers", "apitoken", "delete_apitoken"),
    ("consumers", "auditevent", "view_auditevent"),
    ("consumers", "signonaccount", "view_signonaccount"),
    ("consumers", "clusterrole", "view_clusterrole"),
    *[("auth", "user", f"{verb}_user") for verb in ("add", "change", "delete", "view")],
]
ROLES = {"viewer": VIEWER, "operator": OPERATOR, "admin": ADMIN}


def make_roles(apps, schema_editor):
    """Django makes permissions after all migrations; those of the two apps are needed here."""
    for label in ("auth", "consumers"):
        config = apps.get_app_config(label)
        config.models_module = True
        create_permissions(config, apps=apps, verbosity=0, using=schema_editor.connection.alias)
        config.models_module = None
    permissions = apps.get_model("auth", "Permission").objects
    known = {
        (found.content_type.app_label, found.content_type.model, found.codename): found
        for found in permissions.select_related("content_type")
    }
    for role, granted in ROLES.items():
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name=role)
        group.permissions.add(*[known[one] for one in granted])


def remove_roles(apps, schema_editor):
    apps.get_model("auth", "Group").objects.filter(name__in=ROLES).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("consumers", "0001_initial"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
