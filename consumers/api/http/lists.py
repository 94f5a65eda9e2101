"""Lists: `?page=` and `?page_size=`, answered as count, next, previous, results; or the whole list as CSV.

CSV is a file to download, streamed: a large one is never held whole.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.utils.urls import replace_query_param

from consumers.api.schema.derived import read_serializer
from consumers.api.schema.described import problems_of
from consumers.errands.csv_cells import LINE_END, cell, line_of
from consumers.resets.offset_csv import CONTENT_TYPE

from .negotiation import wants_csv
from .objects import REASON, UNKNOWN, chosen_fields, rows_of
from .parameters import MOST_ROWS
from .problems import NotNow
from .rate import charge

# Rows that are made documents of at once, and how often a list that changes meanwhile is read anew.
AT_ONCE = 500
TRIES = 3


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


@dataclass(frozen=True)
class Found:
    """`rows` of one page, of `count` in all.

    `beside`: what the JSON document says beside its rows. `incomplete`: why the list need not be whole.
    """

    rows: Sequence[Any]
    count: int
    beside: Mapping[str, Any] = field(default_factory=dict)
    incomplete: str | None = None


# Of page (from 1) and page size. A page beyond the last may be anything.
Find = Callable[[int, int], Found]


def whole(rows: Sequence[Any], beside: Mapping[str, Any] | None = None, incomplete: str | None = None) -> Find:
    """Finds pages of a list that is here as a whole."""
    return lambda page, size: Found(rows[(page - 1) * size : page * size], len(rows), beside or {}, incomplete)


def list_response(
    request: Request,
    answer: type,
    find: Find,
    *,
    page: int,
    page_size: int,
    under: str = "results",
    at_once: int = MOST_ROWS,
) -> HttpResponseBase:
    """Raises NotFound for a page beyond the last, ValidationError for fields that rows do not have.

    `answer`: what a row is, or its serializer. `under`: the name of the rows. `at_once`: the page size that CSV is read
    with; of a list whose order changes with every reading, all.
    """
    serializer = read_serializer(answer)
    names = chosen_fields(request, serializer)
    if wants_csv(request):
        found = _all(request, find, at_once)
        charge(request, rows=len(found.rows))
        path = request.path.strip("/").split("/")
        return csv_response(_lines(serializer, found, names), "-".join(path[2:]))
    found = find(page, page_size)
    pages = _pages(found.count, page_size)
    if page > pages:
        raise NotFound(f"There is no page {page}: the last of {found.count} results is page {pages}.")
    charge(request, rows=len(found.rows))
    return Response(
        {
            "count": found.count,
            "next": _link(request, page + 1) if page < pages else None,
            "previous": _link(request, page - 1) if page > 1 else None,
            under: rows_of(serializer, found.rows, names),
            **found.beside,
        }
    )


def _all(request: Request, find: Find, at_once: int) -> Found:
    """Read before the first line is sent: what fails then is an answer of its own, not half a file."""
    paged = [name for name in ("page", "page_size") if name in request.query_params]
    if paged:
        raise ValidationError({paged[0]: ["CSV is the whole list: leave this out."]})
    for _ in range(TRIES):
        first = find(1, at_once)
        _refuse_too_many(first.count)
        rows = list(first.rows)
        for page in range(2, _pages(first.count, at_once) + 1):
            found = find(page, at_once)
            if found.count != first.count:
                break
            rows += found.rows
        else:
            return replace(first, rows=rows)
    raise NotNow("The list changes faster than it can be read: narrow it down by filters, or try again.")


def _refuse_too_many(count: int) -> None:
    most = settings.API_CSV_ROWS
    if count > most:
        sentence = (
            f"The list has {count:,} rows, and CSV is for {most:,} at most: narrow it down by filters, "
            "or read it in pages of JSON."
        )
        raise ValidationError({"format": [sentence]})


def _lines(serializer: type[Serializer[Any]], found: Found, names: Sequence[str] | None) -> Iterator[str]:
    """With the columns that say why a cell is empty, whatever was chosen."""
    fields = list(serializer().fields)
    reasons = [name for name in (REASON, UNKNOWN) if name in fields and name not in (names or fields)]
    columns = [*(names or fields), *reasons]
    yield line_of(columns)
    for start in range(0, len(found.rows), AT_ONCE):
        part = found.rows[start : start + AT_ONCE]
        for row in rows_of(serializer, part, names):
            yield line_of(cell(row.get(name) or None if name == UNKNOWN else row.get(name)) for name in columns)
    if found.incomplete is not None:
        yield f"# incomplete: {' '.join(found.incomplete.split())}{LINE_END}"


def _pages(count: int, size: int) -> int:
    """An empty list has one."""
    return Paginator(range(count), size).num_pages


def _link(request: Request, page: int) -> str:
    return replace_query_param(request.build_absolute_uri(), "page", page)
