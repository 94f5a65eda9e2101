"""GET /metrics: what is known of every group, for Prometheus. Wants a session or a token, as REST does."""

import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from .accepted import format_for, wants_gzip
from .exposition import OPEN_METRICS, exposition
from .families import UnknownCluster, scrape

# Fast: a scrape of megabytes shrinks to a tenth by the first level already.
GZIP_LEVEL, GZIP_BITS = 1, 16 + zlib.MAX_WBITS


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
        media_type = format_for(request.headers.get("accept", ""))
        try:
            scraped = scrape(timezone.now(), request.query_params.get("cluster"))
        except UnknownCluster as unknown:
            raise NotFound(str(unknown)) from None
        text = exposition(scraped.families, open_metrics=media_type == OPEN_METRICS, remark=scraped.remark)
        pieces = (piece.encode() for piece in text)
        is_zipped = wants_gzip(request.headers.get("accept-encoding", ""))
        answer = StreamingHttpResponse(
            zipped(pieces) if is_zipped else pieces, content_type=f"{media_type}; charset=utf-8"
        )
        answer["Cache-Control"] = "no-store"
        patch_vary_headers(answer, ["Accept", "Accept-Encoding"])
        if is_zipped:
            answer["Content-Encoding"] = "gzip"
        return answer


def zipped(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Each piece leaves as soon as it is packed, the first before the last is written."""
    packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, GZIP_BITS)
    for piece in pieces:
        yield packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()
