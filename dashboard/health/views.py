"""`/healthz`: this process answers. `/readyz`: whether what it shows is fresh, part by part. Open to all."""

from dataclasses import asdict
from http import HTTPStatus

from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from .readiness import readiness


@require_safe
@never_cache
def live(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"live": True})


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    answer = readiness(timezone.now())
    status = HTTPStatus.OK if answer.ready else HTTPStatus.SERVICE_UNAVAILABLE
    return JsonResponse(asdict(answer), status=status)
