"""The language of the pages: chosen in the account menu or on the login page, kept in a cookie."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST
from django.views.i18n import set_language


def languages_of(request: HttpRequest) -> dict[str, Any]:
    """Context of every template, also of those without a user. Each language by its own name."""
    return {"languages": [{"code": code, "name": name} for code, name in settings.LANGUAGES]}


@require_POST
def language(request: HttpRequest) -> HttpResponse:
    """Open to all: it changes nothing but the asker's own cookie."""
    allowed = [code for code, _name in settings.LANGUAGES]
    if request.POST.get("language") not in allowed:
        return HttpResponse(f"language must be one of {', '.join(allowed)}.", status=400, content_type="text/plain")
    return set_language(request)
