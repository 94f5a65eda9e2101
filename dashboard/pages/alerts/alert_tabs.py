"""Tabs of the alert pages, and who may use their forms."""

from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from consumers.alerts.refused import MAY_MANAGE, why_no_role
from dashboard.pages.common.access import View
from dashboard.pages.common.frame import Frame, context
from dashboard.pages.groups.group_tabs import Tab

# The tabs of Alerts pages, and how fresh what they say of incidents is.
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


# Who may open and send the forms of Alerts pages: everybody looks, who may manage alerts acts.
def form_page(view: View) -> View:
    """A page with a form, opened by everybody, sent to the same address by who may manage alerts."""
    return require_http_methods(["GET", "HEAD", "POST"])(never_cache(login_required(_guarded(view))))


def act(view: View) -> View:
    """What is only ever sent."""
    return require_POST(login_required(_guarded(view)))


def _guarded(view: View) -> View:
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method == "POST" and not request.user.has_perm(MAY_MANAGE):
            raise PermissionDenied(why_no_role())
        return view(request, *args, **kwargs)

    return answer
