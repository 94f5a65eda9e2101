"""A long list in pages: one of them, and the links to its neighbours."""

from collections.abc import Callable
from typing import Any, TypeVar

from .frame import Frame
from .groups_query import page_links, page_number

Row = TypeVar("Row")


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
