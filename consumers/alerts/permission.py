"""Who may change rules, channels, silences and notes, and acknowledge incidents. Everybody may look."""

from django.utils.translation import gettext as _

MAY_MANAGE = "consumers.manage_alerts"


def why_no_role() -> str:
    return _("Alerts are managed with the permission %s: the roles operator and admin have it.") % MAY_MANAGE
