"""GET /metrics for Prometheus. Needs a session or a token, as REST does."""

import zlib
from collections.abc import Iterable, Iterator
from math import isfinite
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

from .exposition import OPEN_METRICS, TEXT, exposition
from .families import UnknownCluster, scrape

# Which format and coding a scraper wants, by its headers.

# Of what we write; a range without a version takes any.
VERSIONS = {"application/openmetrics-text": "1.0.0", "text/plain": "0.0.4"}


def format_for(accept: str) -> str:
    """Of an Accept header; the plain one where both are wanted alike, or neither is.

    Parameters but version and q say nothing against a format: scrapers name a charset, or how names are escaped.
    """
    ranges = list(_weighed(accept))
    wanted = {media_type: _weight(media_type, ranges) for media_type in VERSIONS}
    return OPEN_METRICS if wanted["application/openmetrics-text"] > wanted["text/plain"] else TEXT


def wants_gzip(accept_encoding: str) -> bool:
    return any(coding in ("gzip", "x-gzip") and weight > 0 for coding, _, weight in _weighed(accept_encoding))


def _weighed(header: str) -> Iterator[tuple[str, dict[str, str], float]]:
    """What is named, its parameters, and how much it is wanted: from 0, not at all, to 1."""
    for part in header.lower().split(","):
        name, *rest = (word.strip() for word in part.split(";"))
        found = {key.strip(): value.strip(' "') for key, _, value in (word.partition("=") for word in rest)}
        yield name, found, _number(found.pop("q", "1"))


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if isfinite(number) else 0.0


def _weight(media_type: str, ranges: list[tuple[str, dict[str, str], float]]) -> float:
    """By the ranges that name it most exactly."""
    for name in (media_type, f"{media_type.split('/')[0]}/*", "*/*"):
        version = VERSIONS[media_type]
        found = [
            weight
            for named, parameters, weight in ranges
            if named == name and parameters.get("version", version) == version
        ]
        if found:
            return max(found)
    return 0.0


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
