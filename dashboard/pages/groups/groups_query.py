"""What a reader asks of the list of groups, all of it in the address."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest

from consumers.groups.listing import ORDERINGS
from consumers.groups.rows import GroupFilters, ListKind
from consumers.models import State
from dashboard.pages.common.frame import Choice, Frame
from dashboard.pages.site.problems import UnknownFilter

ONLINE = {"yes": True, "no": False}


@dataclass(frozen=True)
class GroupsQuery:
    search: str
    state: str
    online: str
    kind: ListKind
    ordering: str
    page: int

    @classmethod
    def of(cls, request: HttpRequest) -> "GroupsQuery":
        read = request.GET.get
        query = cls(
            search=read("search", "").strip(),
            state=_one_of("state", read("state", ""), list(State)),
            online=_one_of("online", read("online", ""), ONLINE),
            kind=ListKind(_one_of("kind", read("kind", ""), ListKind) or ListKind.USER),
            ordering=read("ordering", ""),
            page=page_number(request),
        )
        _one_of("ordering", query.ordering.removeprefix("-"), ORDERINGS)
        return query

    def filters(self, cluster: str | None) -> GroupFilters:
        return GroupFilters(
            cluster=cluster,
            search=self.search or None,
            state=State(self.state) if self.state else None,
            online=ONLINE.get(self.online),
            kind=self.kind,
            ordering=self.ordering or None,
        )

    @property
    def is_filtered(self) -> bool:
        return bool(self.search or self.state or self.online or self.kind != ListKind.USER)


def _one_of(name: str, value: str, allowed: Iterable[str]) -> str:
    words = list(allowed)
    if value and value not in words:
        raise UnknownFilter(name, value, words)
    return value


def page_number(request: HttpRequest, name: str = "page") -> int:
    text = request.GET.get(name, "1")
    # No database counts further.
    if not (text.isascii() and text.isdecimal() and len(text) < 10) or int(text) < 1:
        raise UnknownFilter(name, text, ["1", "2", "…"])
    return int(text)


@dataclass(frozen=True)
class Column:
    """A column head: its link sorts by it, or the other way round where it already does."""

    name: str
    label: str
    unit: str
    href: str
    sorted: str
    is_number: bool


def column(frame: Frame, ordering: str, name: str, label: str, unit: str, *, is_number: bool) -> Column:
    """Numbers are sorted largest first at the first press, words from A, states worst first."""
    if name not in ORDERINGS:
        return Column(name, label, unit, "", "", is_number)
    first, second = (f"-{name}", name) if is_number else (name, f"-{name}")
    href = frame.here(ordering=second if ordering == first else first)
    sorted_as = {name: "ascending", f"-{name}": "descending"}.get(ordering, "")
    return Column(name, label, unit, href, sorted_as, is_number)


def page_links(frame: Frame, page: int, pages: int, name: str = "page") -> dict[str, Choice | None]:
    def to(number: int, label: str) -> Choice | None:
        return Choice(label, frame.here(**{name: str(number)}), False) if 1 <= number <= pages else None

    return {"previous": to(page - 1, "previous"), "next": to(page + 1, "next")}
