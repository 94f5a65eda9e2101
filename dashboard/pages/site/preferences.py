"""Language, and the legend of states."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from consumers.vocabulary.states import State
from consumers.words.states import MEANINGS, REMEDIES, STATES
from dashboard.pages.common.frame import context, frame_of, page


# The language of the pages: chosen in the account menu or on the login page, kept in a cookie.
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


@page
def states(request: HttpRequest) -> HttpResponse:
    """The legend of states: what each means, and what to do about it."""
    lines = [(state, STATES[state], MEANINGS[state], REMEDIES[state]) for state in State]
    return render(request, "common/states.html", context(frame_of(request, timezone.now()), lines=lines))
