"""Light, dark, or as the system says: stored in a cookie, so that the server renders the right one at once."""

from collections.abc import Iterable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

THEMES = {"auto": _("system"), "light": _("light"), "dark": _("dark")}
YEAR = 365 * 24 * 3600


def theme_of(request: HttpRequest) -> dict[str, Any]:
    """Context of every template, also of those without a user."""
    chosen = request.COOKIES.get("theme", "auto")
    return {
        "theme": chosen if chosen in THEMES else "auto",
        "themes": [{"name": name, "label": label} for name, label in THEMES.items()],
    }


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    return chosen_in_cookie(request, "theme", THEMES)


def chosen_in_cookie(request: HttpRequest, name: str, choices: Iterable[str]) -> HttpResponse:
    """Open to all: it changes nothing but the asker's own cookie."""
    chosen = request.POST.get(name, "")
    if chosen not in choices:
        return HttpResponse(f"{name} must be one of {', '.join(choices)}.", status=400, content_type="text/plain")
    back = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(back, {request.get_host()}, require_https=request.is_secure())
    response = HttpResponseRedirect(back if safe else resolve_url("overview"))
    response.set_cookie(name, chosen, max_age=YEAR, samesite="Lax", httponly=True, secure=request.is_secure())
    return response
