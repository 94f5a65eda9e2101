"""Who may open and send the forms of Alerts pages: everybody looks, who may manage alerts acts."""

from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from consumers.alerts.refused import MAY_MANAGE, why_no_role
from dashboard.pages.common.access import View


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
