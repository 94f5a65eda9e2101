"""`/healthz`: this process answers. `/readyz`: whether what it shows is fresh, part by part.

Open to all, as probes have no account. Names of clusters and channels, and errors, are for those who are logged in.
"""

from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from consumers.rest.access import TokenAuthentication

from .readiness import Readiness, readiness


@require_safe
@never_cache
def live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"live": True})


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    answer = readiness(timezone.now())
    status = HTTPStatus.OK if answer.ready else HTTPStatus.SERVICE_UNAVAILABLE
    response = JsonResponse(asdict(answer) if _is_known(request) else _for_anybody(answer), status=status)
    patch_vary_headers(response, ("Authorization", "Cookie"))
    return response


def _is_known(request: HttpRequest) -> bool:
    """By a session or a token. Without the database nobody is."""
    try:
        return request.user.is_authenticated or TokenAuthentication().authenticate(Request(request)) is not None
    except (AuthenticationFailed, DatabaseError):
        return False


def _for_anybody(answer: Readiness) -> dict[str, Any]:
    return {
        "ready": answer.ready,
        "detail": _("To see details, log in or send a token."),
        "parts": {name: {"well": part.well} for name, part in answer.parts.items()},
    }
