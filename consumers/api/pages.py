"""Pages of lists: `?page=` and `?page_size=`, answered as count, next, previous, results."""

from collections.abc import Sequence
from typing import Any

from rest_framework.exceptions import NotFound
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.utils.urls import replace_query_param


class Pages(PageNumberPagination):
    page_size_query_param = "page_size"
    max_page_size = 1000


def page_response(
    request: Request, serializer: type[Serializer[Any]], rows: Sequence[Any], *, count: int, page: int, page_size: int
) -> Response:
    """One page that a selector cut already. Raises NotFound for a page beyond the last."""
    pages = max(1, -(-count // page_size))
    if page > pages:
        raise NotFound(f"There is no page {page}: the last of {count} results is page {pages}.")
    return Response(
        {
            "count": count,
            "next": _link(request, page + 1) if page < pages else None,
            "previous": _link(request, page - 1) if page > 1 else None,
            "results": serializer(rows, many=True).data,
        }
    )


def list_response(
    request: Request, serializer: type[Serializer[Any]], rows: Sequence[Any], *, page: int, page_size: int
) -> Response:
    """One page of a list that is here as a whole."""
    start = (page - 1) * page_size
    part = rows[start : start + page_size]
    return page_response(request, serializer, part, count=len(rows), page=page, page_size=page_size)


def _link(request: Request, page: int) -> str:
    return replace_query_param(request.build_absolute_uri(), "page", page)
