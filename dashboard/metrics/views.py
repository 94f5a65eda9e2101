"""GET /metrics: what is known of every group, for Prometheus. Wants a session or a token, as REST does."""

from typing import Any

from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from .exposition import OPEN_METRICS, TEXT, exposition
from .families import families


class AnyContent(BaseContentNegotiation):
    """Who accepts neither of the two formats is answered in the plain one: Prometheus reads it whatever it asked for.

    Problems are JSON, as everywhere.
    """

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]


@extend_schema(exclude=True)
class MetricsView(APIView):
    content_negotiation_class = AnyContent

    def get(self, request: Request) -> StreamingHttpResponse:
        media_type = format_for(request._request)
        text = exposition(families(timezone.now()), ends=media_type == OPEN_METRICS)
        answer = StreamingHttpResponse(text, content_type=f"{media_type}; charset=utf-8")
        answer["Cache-Control"] = "no-store"
        return answer


def format_for(request: HttpRequest) -> str:
    """By Accept; the plain one where both are wanted alike."""
    return TEXT if request.get_preferred_type([TEXT, OPEN_METRICS]) != OPEN_METRICS else OPEN_METRICS
