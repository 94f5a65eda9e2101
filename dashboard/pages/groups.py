"""The list of groups, and its filters."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_POST

from consumers.groups.listing import ORDERINGS, group_counts, listed
from consumers.groups.noted import known_brokers, known_labels, known_owners, label_of
from consumers.groups.overlay import Overlay
from consumers.groups.rows import GroupFilters, GroupRow, ListKind
from consumers.groups.saved import (
    FilterRefused,
    SavedFilterRow,
    filter_rows,
    filters_for,
    own_filter,
    query_of,
    remove_filter,
    save_filter,
)
from consumers.models import State
from consumers.queries.history import sparklines
from dashboard.pages.common.frame import PAGES, Choice, Frame, context, frame_of, refreshing
from dashboard.pages.common.list_pages import Column, page_links, page_number, sorting_column
from dashboard.pages.common.notices import confirmed
from dashboard.pages.common.removal import Removal, removal
from dashboard.pages.site.problems import UnknownFilter, WrongQuery
from dashboard.wording.codes import LISTS
from dashboard.wording.numbers import FIELDS, count

# Columns that are a field; health, state, group, cluster and the line stand before them, the reading's age behind.
NUMBERS = [
    one.name
    for one in sorted(fields(GroupRow), key=lambda one: one.metadata.get("column", 0))
    if "column" in one.metadata
]
LINE, REBALANCED, SCRAPED = "line", "last_rebalance_at", "taken_at"
# Columns that a reader may leave out, in their order. Lag is always there.
OPTIONAL = (LINE, *(name for name in NUMBERS if name != "lag_messages"), REBALANCED, SCRAPED)

# Filters by a name that a reader enters, with how each is called and how all of them are shown again.
NAMED = {
    "topic": (gettext_lazy("Topic"), gettext_lazy("all topics")),
    "broker": (gettext_lazy("Broker"), gettext_lazy("all brokers")),
    "owner": (pgettext_lazy("of a group", "Owner"), gettext_lazy("all owners")),
    "label": (gettext_lazy("Label"), gettext_lazy("all labels")),
}

# What a reader asks of the list of groups, all of it in the address.
ONLINE = {"yes": True, "no": False}


@dataclass(frozen=True)
class GroupsQuery:
    search: str
    state: str
    online: str
    kind: ListKind
    topic: str
    broker: str
    owner: str
    label: str
    columns: tuple[str, ...]
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
            **{name: read(name, "").strip() for name in NAMED},
            columns=tuple(_one_of("columns", name, OPTIONAL) for name in request.GET.getlist("columns")) or OPTIONAL,
            ordering=read("ordering", ""),
            page=page_number(request),
        )
        _one_of("ordering", query.ordering.removeprefix("-"), ORDERINGS)
        if query.label:
            _checked_label(query.label)
        return query

    def filters(self, cluster: str | None) -> GroupFilters:
        return GroupFilters(
            cluster=cluster,
            search=self.search or None,
            state=State(self.state) if self.state else None,
            online=ONLINE.get(self.online),
            kind=self.kind,
            topic=self.topic or None,
            broker=self.broker or None,
            owner=self.owner or None,
            label=self.label or None,
            ordering=self.ordering or None,
        )

    @property
    def is_filtered(self) -> bool:
        return bool(self.search or self.state or self.online or self.named or self.kind != ListKind.USER)

    @property
    def named(self) -> dict[str, str]:
        """Filters by a name that is entered, as far as they are set."""
        return {name: value for name in NAMED if (value := str(getattr(self, name)))}


def _checked_label(label: str) -> None:
    try:
        label_of(label)
    except ValueError as wrong:
        raise WrongQuery(str(wrong)) from None


def _one_of(name: str, value: str, allowed: Iterable[str]) -> str:
    words = list(allowed)
    if value and value not in words:
        raise UnknownFilter(name, value, words)
    return value


def column(frame: Frame, ordering: str, name: str, label: str, unit: str, *, is_number: bool) -> Column:
    if name not in ORDERINGS:
        return Column(name, label, unit, "", "", is_number)
    return sorting_column(frame, ordering, name, label, unit, is_number=is_number)


# Groups: every group with its state and numbers; searched, filtered, ordered and paged on the server.
ROWS = 30


def groups_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    query = GroupsQuery.of(request)
    filters = query.filters(frame.cluster)
    overlay = Overlay.at(frame.now)
    counts = group_counts(overlay, filters)
    found = listed(overlay, filters, page=query.page, page_size=ROWS, count=counts.listed)
    lags, shown = {row.id: row.lag_messages for row in found.rows}, frame.collected
    lines = sparklines(lags, shown.since, shown.until, is_past=frame.is_past) if LINE in query.columns else {}
    filter_here = query_of(request.GET.urlencode())
    return context(
        frame,
        query=query,
        saved_filters=_saved(request.user, filter_here),
        filter_here=filter_here,
        found=found,
        rows=[(row, lines.get(row.id), frame.group(row.cluster, row.group)) for row in found.rows],
        column_choices=_column_choices(frame, query),
        kept_here=[(name, value) for name, value in request.GET.items() if name not in ("columns", *NAMED, *PAGES)],
        chips=_chips(frame, query, counts.states),
        kind_choices=_kind_choices(frame, query, counts.kinds),
        csv_query=_csv_query(frame, query),
        named_choices=_named_choices(frame, query),
        named_fields=[(name, label, getattr(query, name), _known(name)) for name, (label, _all) in NAMED.items()],
        online_choices=_online_choices(frame, query),
        columns=_columns(frame, query),
        many_clusters=_has_many_clusters(frame),
        numbers=[name for name in OPTIONAL if name in NUMBERS and name in query.columns],
        links=page_links(frame, found.page, found.pages),
        first=(found.page - 1) * ROWS + 1,
        last=(found.page - 1) * ROWS + len(found.rows),
    )


groups, groups_part = refreshing("groups/groups.html", "groups/groups_part.html", groups_context)


# Saved filters: links to this list. A form saves what is shown; one's own are removed here.
@require_POST
@login_required
def filter_save(request: HttpRequest) -> HttpResponse:
    sent = request.POST.get
    query = sent("query", "")
    try:
        saved = save_filter(
            sent("name", ""), query, request.user, timezone.now(), is_shared=sent("is_shared", "") == "1"
        )
    except FilterRefused as refusal:
        back = f"{reverse('groups')}?{query_of(query)}"
        shown = {"sentences": list(refusal.errors.values()), "back": back}
        filled = context(frame_of(request, timezone.now()), **shown)
        return render(request, "groups/filter_refused.html", filled, status=400)
    sentence = _("Saved the filter %(name)s.") % {"name": saved.name}
    return confirmed(request, f"{reverse('groups')}?{saved.query}", sentence)


@removal
def filter_remove(request: HttpRequest, filter: int) -> Removal:
    """Of one's own: another's is not there."""
    saved = own_filter(filter, request.user)
    if saved is None:
        raise Http404(_("There is no such saved filter."))
    return Removal(
        title=_("Delete the filter %(name)s?") % {"name": saved.name},
        effect=_("It is removed for everybody.") if saved.is_shared else "",
        label=_("Delete"),
        done=_("Deleted the filter %(name)s.") % {"name": saved.name},
        back=reverse("groups"),
        after=reverse("groups"),
        remove=lambda: remove_filter(saved, request.user, timezone.now()),
    )


def _saved(user: Any, here: str) -> list[tuple[SavedFilterRow, str, bool]]:
    """Each with its link, and whether it is what is shown."""
    rows = filter_rows(list(filters_for(user)), user)
    return [(row, f"{reverse('groups')}?{row.query}", row.query == here) for row in rows]


def _chips(frame: Frame, query: GroupsQuery, counts: dict[State, int]) -> list[tuple[str, int, str, bool]]:
    """For each state: word, how many, the address that shows only it (or all again), whether it is chosen."""
    return [
        (state, n, frame.here(state=None if query.state == state else state), query.state == state)
        for state, n in counts.items()
    ]


def _kind_choices(frame: Frame, query: GroupsQuery, counts: dict[ListKind, int]) -> list[Choice]:
    """The kind that is listed when none is named stands in no address."""
    return [
        Choice(
            f"{LISTS[kind]} {count(n)}", frame.here(kind=None if kind == ListKind.USER else kind), query.kind == kind
        )
        for kind, n in counts.items()
    ]


def _online_choices(frame: Frame, query: GroupsQuery) -> list[Choice]:
    labels = (("", _("all")), ("yes", _("online")), ("no", _("offline")))
    return [Choice(label, frame.here(online=value or None), query.online == value) for value, label in labels]


def _csv_query(frame: Frame, query: GroupsQuery) -> str:
    """The same groups over REST."""
    asked = {"cluster": frame.cluster, "search": query.search, "state": query.state, "online": query.online}
    asked |= {"kind": query.kind.value, **query.named, "ordering": query.ordering, "format": "csv"}
    return urlencode({name: value for name, value in asked.items() if value})


def _named_choices(frame: Frame, query: GroupsQuery) -> list[tuple[Any, str, Any, str]]:
    """Of each that is set: how it is called, its value, and the link that shows all again."""
    return [
        (*NAMED[name][:1], value, NAMED[name][1], frame.here(**{name: None})) for name, value in query.named.items()
    ]


def _known(name: str) -> list[str]:
    """What may be entered, where it is a short list."""
    known: dict[str, Callable[[], list[str]]] = {"owner": known_owners, "label": known_labels, "broker": known_brokers}
    return known[name]() if name in known else []


def _has_many_clusters(frame: Frame) -> bool:
    return frame.cluster is None and len(frame.clusters) > 1


def _line_head(frame: Frame) -> str:
    return frame.range.label if frame.range.is_own else _("Last %s") % frame.range.label


def _label(frame: Frame, name: str) -> tuple[str, str]:
    """Of an optional column: its label and unit."""
    others = {LINE: _line_head(frame), REBALANCED: _("Rebalanced"), SCRAPED: _("Scraped")}
    return (others[name], "") if name in others else (str(FIELDS[name].label), str(FIELDS[name].unit))


def _column_choices(frame: Frame, query: GroupsQuery) -> list[tuple[str, str, bool]]:
    return [(name, _label(frame, name)[0], name in query.columns) for name in OPTIONAL]


def _columns(frame: Frame, query: GroupsQuery) -> list[Column]:
    ordering = query.ordering
    words = [("health", _("Health")), ("state", _("State")), ("group", _("Group"))]
    if _has_many_clusters(frame):
        words.append(("cluster", _("Cluster")))
    heads = [column(frame, ordering, name, label, "", is_number=False) for name, label in words]
    lag = FIELDS["lag_messages"]
    heads.append(column(frame, ordering, "lag_messages", str(lag.label), str(lag.unit), is_number=True))
    chosen = [name for name in OPTIONAL if name in query.columns]
    return heads + [column(frame, ordering, name, *_label(frame, name), is_number=name != LINE) for name in chosen]
