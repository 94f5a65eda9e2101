"""Answers: paged lists, lists as CSV (RFC 4180), chosen fields, and ETags.

In CSV null is an empty cell without quotes, and an empty text has quotes. A spreadsheet runs a cell that begins as a
formula: such texts begin with an apostrophe.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from itertools import chain, islice
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header, parse_etags
from django.utils.translation import gettext, ngettext
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

from consumers.rest.schema import described, problems_of, read_serializer

from .access import charge
from .problems import NotNow, refuse_unknown
from .requests import MOST_ROWS, PAGE, Paging, taken, wants_csv
from .watched import Watched, watched

# `?fields=a,b`: which members of an object, or of each row of a list, are wanted.
#
# A null never travels without its reason: what says why a chosen field is null comes with it.
UNKNOWN, REASON = "unknown", "unknown_reason"

# Null where nothing is unknown.
SAYS_WHY = (REASON, "unknown_reason_code")


def chosen_fields(request: Request, serializer: type[Serializer[Any]]) -> tuple[str, ...] | None:
    """In the order asked for; None: all. Raises ValidationError for a name that the answer does not have."""
    text = request.query_params.get("fields")
    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    allowed = list(serializer().fields)
    odd = [name for name in names if name not in allowed]
    if odd:
        sentence = gettext('"%(field)s" is not a field. Allowed: %(allowed)s.') % {
            "allowed": ", ".join(allowed),
            "field": odd[0],
        }
        raise ValidationError({"fields": [sentence]})
    return names


def rows_of(
    serializer: type[Serializer[Any]], rows: Iterable[Any], names: Sequence[str] | None
) -> list[Mapping[str, Any]]:
    """Each as the document that it is answered as. What is not wanted is not computed."""
    if names is None:
        return list(serializer(rows, many=True).data)
    one = serializer()
    for name in set(one.fields) - {*names, UNKNOWN, REASON}:
        one.fields.pop(name)
    return [only(one.to_representation(row), names) for row in rows]


def only(document: Mapping[str, Any], names: Sequence[str] | None) -> Mapping[str, Any]:
    """What was chosen of a document, with the reasons of what of it is null."""
    if names is None:
        return document
    chosen = {name: document[name] for name in names}
    why = {field: reason for field, reason in (document.get(UNKNOWN) or {}).items() if field.split(".")[0] in names}
    has_null = any(chosen[name] is None for name in names if name not in SAYS_WHY)
    if UNKNOWN in document and UNKNOWN not in names and (has_null or why):
        chosen[UNKNOWN] = why
    if REASON in document and has_null:
        chosen[REASON] = document[REASON]
    return chosen


def object_response(request: Request, answer: type, instance: Any, code: int = status.HTTP_200_OK) -> Response:
    """Of `answer`, a row or a serializer. Raises ValidationError for fields that it does not have. What an act answers
    is always whole."""
    serializer = read_serializer(answer)
    names = chosen_fields(request, serializer) if request.method in ("GET", "HEAD") else None
    return Response(only(serializer(instance).data, names), status=code)


# Lists: `?page=` and `?page_size=`, answered as count, next, previous, results; or the whole list as CSV.
#
# CSV is a file to download, streamed: a large one is never held whole.
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
class ListedRows:
    """`rows` of one page, of `count` in all. `beside`: further members of the JSON document. `incomplete`: why the list
    may be incomplete."""

    rows: Sequence[Any]
    count: int
    beside: Mapping[str, Any] = field(default_factory=dict)
    incomplete: str | None = None


# Of page (from 1) and page size. A page beyond the last may be anything.
Find = Callable[[int, int], ListedRows]


def whole(rows: Sequence[Any], extra: Mapping[str, Any] | None = None, incomplete: str | None = None) -> Find:
    """Finds pages of a list that is here as a whole."""
    return lambda page, size: ListedRows(rows[(page - 1) * size : page * size], len(rows), extra or {}, incomplete)


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
        raise NotFound(
            ngettext(
                "There is no page %(page)s: the last of %(count)s result is page %(pages)s.",
                "There is no page %(page)s: the last of %(count)s results is page %(pages)s.",
                found.count,
            )
            % {"page": page, "pages": pages, "count": found.count}
        )
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


# Of the values of the parameters, the page and its size.
FindOfGroups = Callable[[Mapping[str, Any], int, int], ListedRows]


def group_lists(
    operation: str, answer: type, parameters: type[Paging], find: FindOfGroups, *, of_all: str, of_one: str
) -> tuple[type[APIView], type[APIView]]:
    """The list of events over all groups, which `cluster` and `group` narrow, and the list of one group; each with how
    completely its range was watched.

    `parameters`: those of both. `of_all`, `of_one`: what the two lists are, for the schema.
    """
    named = {
        "cluster": serializers.CharField(required=False),
        "group": serializers.CharField(
            required=False, help_text="The whole name; of RocketMQ's own groups only by name"
        ),
    }
    parameters_of_all: type[Paging] = type(f"{operation.title()}Parameters", (parameters,), named)

    def answered(request: Request, values: dict[str, Any]) -> HttpResponseBase:
        refuse_unknown(values.get("cluster"), values.get("group"))
        paging = taken(values, *PAGE)
        seen = watched(values, timezone.now())
        extra = {"completeness": read_serializer(Watched)(seen).data}

        def found(page: int, page_size: int) -> ListedRows:
            return replace(find(values, page, page_size), beside=extra, incomplete=seen.unknown_reason)

        return list_response(request, answer, found, **paging)

    extra = {"completeness": read_serializer(Watched)()}

    class AllGroupsView(APIView):
        @described(operation, answer, parameters=parameters_of_all, paged=True, beside=extra, text=of_all)
        def get(self, request: Request) -> HttpResponseBase:
            return answered(request, parameters_of_all.of(request))

    class OneGroupView(APIView):
        @described(f"group_{operation}", answer, parameters=parameters, paged=True, beside=extra, text=of_one)
        def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
            return answered(request, parameters.of(request) | {"cluster": cluster, "group": group})

    return AllGroupsView, OneGroupView


def _all(request: Request, find: Find, at_once: int) -> ListedRows:
    """Read before the first line is sent: what fails then is an answer of its own, not half a file."""
    paged = [name for name in ("page", "page_size") if name in request.query_params]
    if paged:
        raise ValidationError({paged[0]: [gettext("CSV contains the whole list. Leave this out.")]})
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
    raise NotNow(gettext("The list changes faster than it can be read. Use filters to make it shorter, or try again."))


def _refuse_too_many(count: int) -> None:
    most = settings.API_CSV_ROWS
    if count > most:
        sentence = gettext(
            "The list has %(count)s rows, and CSV allows %(most)s at most. Use filters to make it "
            "shorter, or read it as pages of JSON."
        ) % {"most": f"{most:,}", "count": f"{count:,}"}
        raise ValidationError({"format": [sentence]})


def _lines(serializer: type[Serializer[Any]], found: ListedRows, names: Sequence[str] | None) -> Iterator[str]:
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


API = "/api/"

# A 304 repeats these (RFC 9110, 15.4.5).
KEPT = ("ETag", "Cache-Control", "Vary", "RateLimit", "RateLimit-Policy")


class ConditionalAnswers:
    """Adds an ETag to every answer of the API, and answers 304 where the caller has the document already. The answer is
    made all the same, as the data changes with every reading: a 304 saves its transfer and its parsing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = self._get_response(request)
        return _finished(request, answer) if request.path.startswith(API) else answer


def _finished(request: HttpRequest, answer: HttpResponseBase) -> HttpResponseBase:
    patch_vary_headers(answer, ("Accept", "Authorization", "Cookie"))
    if (rate := getattr(request, "rate", None)) is not None:
        for name, value in rate.headers().items():
            answer.headers[name] = value
    is_read = request.method in ("GET", "HEAD") and answer.status_code == 200
    answer.headers.setdefault("Cache-Control", "private, no-cache" if is_read else "no-store")
    if request.method == "HEAD" and answer.streaming:
        answer.streaming_content = iter(())  # type: ignore[attr-defined]
    if not is_read or not isinstance(answer, HttpResponse):
        return answer
    # Weak: two that differ in nothing but how they were packed on the way are the same.
    etag = answer.headers["ETag"] = f'W/"{blake2b(answer.content, digest_size=12).hexdigest()}"'
    asked = parse_etags(request.headers.get("If-None-Match", ""))
    if "*" in asked or etag.removeprefix("W/") in [one.removeprefix("W/") for one in asked]:
        return HttpResponseNotModified(headers={name: answer.headers[name] for name in KEPT if name in answer.headers})
    return answer


# The last four as full-width characters, which some spreadsheets take for the same.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
LINE_END = "\r\n"
CONTENT_TYPE = "text/csv; charset=utf-8; header=present"


def line_of(cells: Iterable[str]) -> str:
    return ",".join(cells) + LINE_END


def cell(value: Any, *, is_safe: bool = False) -> str:
    """`is_safe`: a text that is no formula, whatever it begins with."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return _quoted(value if is_safe or not value.startswith(FORMULA) else f"'{value}")
    return str(value)


def text_of(stored: str) -> str:
    """A text as it was before `cell` kept it from being a formula."""
    return stored[1:] if stored.startswith("'") and stored[1:].startswith(FORMULA) else stored


def _quoted(text: str) -> str:
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
