"""Numbers in addresses and forms, lists in pages, and the rows that a form keeps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _

from consumers.alerts.fields import AlertRefused
from consumers.models import AlertRule, Channel, GroupNote
from consumers.words.spans import when
from dashboard.pages.site.problems import UnknownFilter

from .frame import Choice, Frame


@dataclass(frozen=True)
class Column:
    """A column head: its link sorts by it, or the other way round where it already does."""

    name: str
    label: str
    unit: str
    href: str
    sorted: str
    is_number: bool


def sorting_column(frame: Frame, ordering: str, name: str, label: str, unit: str, *, is_number: bool) -> Column:
    """Numbers are sorted largest first at the first press, words from A, states worst first."""
    first, second = (f"-{name}", name) if is_number else (name, f"-{name}")
    href = frame.here(ordering=second if ordering == first else first)
    sorted_as = {name: "ascending", f"-{name}": "descending"}.get(ordering, "")
    return Column(name, label, unit, href, sorted_as, is_number)


# The longest numbers of rows and offsets, and of queues and pages: no database counts further.
LONG, SHORT = 18, 9


def whole_number(text: str, digits: int = LONG) -> int | None:
    """Null where `text` is no whole number of at most so many digits. Digits of other scripts are none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


# A long list in pages: one of them, and the links to its neighbours.
Listed = TypeVar("Listed")


def page_number(request: HttpRequest, name: str = "page") -> int:
    text = request.GET.get(name, "1")
    number = whole_number(text, SHORT)
    if not number:
        raise UnknownFilter(name, text, ["1", "2", "…"])
    return number


def page_links(frame: Frame, page: int, pages: int, name: str = "page") -> dict[str, Choice | None]:
    def to(number: int, label: str) -> Choice | None:
        return Choice(label, frame.here(**{name: str(number)}), False) if 1 <= number <= pages else None

    return {"previous": to(page - 1, "previous"), "next": to(page + 1, "next")}


def paged(frame: Frame, rows: Sequence[Listed], size: int) -> tuple[list[Listed], dict[str, Any]]:
    """Of rows that are all here: those of the page that the address names, and where they stand."""
    page = Paginator(rows, size).get_page(page_number(frame.request))
    pages = page.paginator.num_pages
    where = {"pages": pages, "first": page.start_index(), "last": page.end_index()}
    return list(page), {"links": page_links(frame, page.number, pages), **where}


def listed(
    frame: Frame, size: int, rows_of: Callable[[int], tuple[list[Listed], int]], name: str = "page"
) -> tuple[list[Listed], dict[str, Any]]:
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


# The row that a form is about: held while it is changed, and not kept over what somebody else kept meanwhile.
#
# Forms carry `version`: when their row had been changed as they were opened. One that names none asks for no check.
VERSION = "version"

Row = TypeVar("Row", AlertRule, Channel, GroupNote)


def held(row: Row) -> Row:
    """As it is now, and as it stays until the transaction ends."""
    found: Row | None = type(row).objects.select_for_update().filter(pk=row.pk).first()
    if found is None:
        raise Http404(_("It was deleted in the meantime."))
    return found


def held_as_seen(row: Row | None, posted: Mapping[str, str]) -> Row | None:
    """None where there is no row yet. Raises AlertRefused where it is another than `posted` was typed about."""
    if row is None:
        return None
    found = held(row)
    if posted.get(VERSION) in (None, "", version_of(found)):
        return found
    by = _(" by %s") % found.changed_by_name if found.changed_by_name else ""
    words = {"by": by, "at": when(found.changed_at)}
    sentence = _("Could not save: changed%(by)s at %(at)s. Check the new version, then save again to overwrite it.")
    raise AlertRefused({VERSION: sentence % words})


def version_shown(row: Row | None, posted: Mapping[str, str], errors: Mapping[str, str]) -> str:
    """Returns the version with which the form was opened, until a refusal has shown that another version is stored."""
    if row is None:
        return ""
    return version_of(row) if VERSION in errors else posted.get(VERSION) or version_of(row)


def version_of(row: Row) -> str:
    return row.changed_at.isoformat()
