"""A long list in pages: one of them, and the links to its neighbours."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core.paginator import Paginator

from dashboard.pages.groups.groups_query import page_links, page_number

from .frame import Frame

Row = TypeVar("Row")


def paged(frame: Frame, rows: Sequence[Row], size: int) -> tuple[list[Row], dict[str, Any]]:
    """Of rows that are all here: those of the page that the address names, and where they stand."""
    page = Paginator(rows, size).get_page(page_number(frame.request))
    pages = page.paginator.num_pages
    where = {"pages": pages, "first": page.start_index(), "last": page.end_index()}
    return list(page), {"links": page_links(frame, page.number, pages), **where}


def listed(
    frame: Frame, size: int, rows_of: Callable[[int], tuple[list[Row], int]], name: str = "page"
) -> tuple[list[Row], dict[str, Any]]:
    """`rows_of` gives the rows of a page, and how many there are on all. Beyond the last page is the last: what was
    listed may have become shorter since somebody turned to it. `name`: what the address calls the page's number."""
    number = page_number(frame.request, name)
    rows, count = rows_of(number)
    pages = max(1, -(-count // size))
    if number > pages:
        number = pages
        rows, count = rows_of(number)
    first = (number - 1) * size
    paging = {
        "links": page_links(frame, number, pages, name),
        "count_of_all": count,
        "first": first + 1,
        "last": first + len(rows),
    }
    return rows, paging
