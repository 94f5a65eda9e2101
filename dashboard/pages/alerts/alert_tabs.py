"""The tabs of Alerts pages, and how fresh what they say of incidents is."""

from typing import Any

from django.utils.translation import gettext as _

from consumers.alerts.refused import MAY_MANAGE, why_no_role
from dashboard.pages.common.frame import Frame, context
from dashboard.pages.groups.group_tabs import Tab

# Pages that a tab leads to, by how the names of their addresses begin.
LIES_UNDER = {
    "alert_rules": ("alert_rule", "alert_preview"),
    "channels": ("channel",),
    "silences": ("silence",),
    "alert_notes": ("alert_note",),
    "alerts": ("alerts", "incident"),
}


def alert_context(frame: Frame, **more: Any) -> dict[str, Any]:
    """What every page of Alerts shows: tabs, the newest evaluation, and why somebody may only look."""
    may = frame.request.user.has_perm(MAY_MANAGE)
    return context(
        frame,
        tabs=alert_tabs(frame),
        evaluation=frame.evaluation,
        against="" if may else why_no_role(),
        **more,
    )


def alert_tabs(frame: Frame) -> list[Tab]:
    match = frame.request.resolver_match
    here = (match.url_name or "") if match else ""
    labels = (
        ("alerts", _("Incidents")),
        ("alert_rules", _("Rules")),
        ("channels", _("Channels")),
        ("silences", _("Silences")),
        ("alert_notes", _("Notes")),
    )
    return [Tab(name, label, frame.to(name), here.startswith(LIES_UNDER[name])) for name, label in labels]
