"""Permissions in the language of the request: the names that the database holds are English."""

from django.contrib.auth.models import Permission
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

OWN: dict[str, str | Promise] = {
    "view_message_body": _("Can see the bodies of messages"),
    "resend_dead_letters": _("Can resend dead-letter messages"),
    "dump_threads": _("Can take thread dumps of clients"),
    "manage_alerts": _("Can manage alert rules, channels, silences and notes, and acknowledge"),
    "reset_offsets": _("Can plan and apply offset resets"),
    "manage_clusters": _("Can add, change and remove clusters"),
}
ACTS: dict[str, str | Promise] = {
    "add": _("Can add %s"),
    "change": _("Can change %s"),
    "delete": _("Can delete %s"),
    "view": _("Can view %s"),
}


def permission_words(permission: Permission) -> str:
    """Of a model that this version does not have, as the database names it."""
    model, act = permission.content_type.model_class(), permission.codename.partition("_")[0]
    if permission.codename in OWN:
        return str(OWN[permission.codename])
    if model is None or act not in ACTS:
        return str(permission)
    return str(ACTS[act]) % model._meta.verbose_name_plural
