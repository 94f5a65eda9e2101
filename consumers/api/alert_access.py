"""Who may change what alerts are made of. Everybody may look."""

from consumers.alerts.permission import MAY_MANAGE, why_no_role

from .permitted import MayChange


class MayManageAlerts(MayChange):
    permission = MAY_MANAGE
    why_not = staticmethod(why_no_role)
