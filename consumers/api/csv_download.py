"""Lines of CSV as a file to download, streamed: a large one is never held whole."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers

from consumers.resets.csv_out import CONTENT_TYPE

from .schema import problems_of


def csv_response(lines: Iterator[str], name: str) -> StreamingHttpResponse:
    # The names of columns and the first row: what fails by then, as a database that is away, is no file.
    begun = list(islice(lines, 2))
    response = StreamingHttpResponse((line.encode() for line in chain(begun, lines)), content_type=CONTENT_TYPE)
    response.headers["Content-Disposition"] = content_disposition_header(True, f"{name}.csv") or "attachment"
    response.headers["Cache-Control"] = "no-store"
    return response


def described_csv(operation: str, parameters: type[serializers.Serializer[Any]] | None = None) -> Any:
    return extend_schema(
        operation_id=operation,
        parameters=[parameters] if parameters else [],
        responses={(200, "text/csv"): OpenApiTypes.STR} | problems_of(400, 401, 403, 404, 429, 503),
    )
