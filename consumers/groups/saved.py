"""Saved filters of the list of groups: a named part of its address, one's own or shared with everybody."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.jobs.acts import ActRefused, note
from consumers.models import AuditAction, SavedFilter, State
from consumers.queries.declared import answer, public
from consumers.rest.answers import ListedRows, list_response, object_response
from consumers.rest.requests import PAGE, Paging, Strict, body_of, taken
from consumers.rest.schema import acted, described

from .listing import ORDERINGS
from .noted import label_of
from .rows import ListKind

MOST_OF_A_USER = 100
LONGEST_NAME, LONGEST_QUERY = 100, 2000
# What a filter may hold; values that only certain words may have. The page and the range are no part of it.
NAMES = ("cluster", "search", "state", "online", "kind", "topic", "broker", "owner", "label", "columns", "ordering")
WORDS = {
    "state": frozenset(State),
    "online": frozenset(("yes", "no")),
    "kind": frozenset(ListKind),
    "ordering": frozenset(f"{sign}{name}" for name in ORDERINGS for sign in ("", "-")),
}


class FilterRefused(ActRefused):
    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__(" ".join(errors.values()))


@answer("A filter of the list of groups that somebody named.")
@dataclass(frozen=True, kw_only=True)
class SavedFilterRow:
    id: int
    name: str
    query: str = field(metadata=public("The part of the address of the list of groups, as `state=STALL`"))
    is_shared: bool = field(metadata=public("Listed for everybody"))
    is_own: bool = field(metadata=public("Whoever asks saved it"))
    by: str
    created_at: datetime


def filters_for(user: Any) -> QuerySet[SavedFilter]:
    """One's own and those that are shared, by name."""
    visible = Q(user=user.pk) | Q(is_shared=True)
    return SavedFilter.objects.filter(visible).select_related("user").order_by("name", "pk")


def own_filter(pk: int, user: Any) -> SavedFilter | None:
    return SavedFilter.objects.filter(pk=pk, user=user.pk).first()


def filter_rows(filters: Sequence[SavedFilter], user: Any) -> list[SavedFilterRow]:
    return [
        SavedFilterRow(
            id=one.pk,
            name=one.name,
            query=one.query,
            is_shared=one.is_shared,
            is_own=one.user_id == user.pk,
            by=one.user.get_username(),
            created_at=one.created_at,
        )
        for one in filters
    ]


def query_of(text: str) -> str:
    """What of an address filters the list, in one spelling."""
    found = parse_qsl(text.removeprefix("?"))
    return urlencode([(name, value) for name, value in found if name in NAMES])


@transaction.atomic
def save_filter(name: str, query: str, by: Any, now: datetime, *, is_shared: bool = False) -> SavedFilter:
    """Replaces one's own of the same name. Raises FilterRefused."""
    name = name.strip()
    if errors := _wrong(name, query):
        raise FilterRefused(errors)
    own = SavedFilter.objects.filter(user=by.pk)
    if not own.filter(name=name).exists() and own.count() >= MOST_OF_A_USER:
        raise FilterRefused({"": _("You have %s saved filters, which is the maximum: delete one.") % MOST_OF_A_USER})
    values = {"query": query_of(query), "is_shared": is_shared, "created_at": now}
    made, is_new = SavedFilter.objects.update_or_create(user_id=by.pk, name=name, defaults=values)
    note(made, name, by, f"Saved as {values['query']!r}.", now, AuditAction.ADDED if is_new else AuditAction.CHANGED)
    return made


@transaction.atomic
def remove_filter(saved: SavedFilter, by: Any, now: datetime) -> None:
    note(saved, saved.name, by, "Deleted.", now, AuditAction.DELETED)
    saved.delete()


def _wrong(name: str, query: str) -> dict[str, str]:
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        return {"name": _("Enter a name of one line, with %s characters at most.") % LONGEST_NAME}
    found = parse_qsl(query.removeprefix("?"))
    if not any(value for _name, value in found):
        return {"query": _("Choose a filter, columns or an order first: there is nothing to save.")}
    if len(query) > LONGEST_QUERY:
        return {"query": _("The filter is longer than %s characters.") % LONGEST_QUERY}
    for part, value in found:
        if part not in NAMES:
            return {"query": _("%(name)s is not a filter. Allowed: %(allowed)s.") % _allowed(part, NAMES)}
        if part == "label" and value:
            try:
                label_of(value)
            except ValueError as wrong:
                return {"query": str(wrong)}
        if value not in WORDS.get(part, (value,)):
            return {"query": _("%(name)s is not allowed. Allowed: %(allowed)s.") % _allowed(value, sorted(WORDS[part]))}
    return {}


def _allowed(name: str, allowed: Sequence[str]) -> dict[str, str]:
    return {"name": f"“{name}”", "allowed": ", ".join(allowed)}


# Over REST: GET and POST group-filters/, DELETE group-filters/{id}/. Everybody who may look may save.
class SavedFilterRequestSerializer(Strict):
    name = serializers.CharField(max_length=LONGEST_NAME)
    query = serializers.CharField(max_length=LONGEST_QUERY, help_text="As `state=STALL&ordering=-lag_messages`")
    is_shared = serializers.BooleanField(required=False, default=False)


class SavedFilterListView(APIView):
    @described("group_filters", SavedFilterRow, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """One's own saved filters and those that are shared, by name."""
        found = filters_for(request.user)

        def find(page: int, size: int) -> ListedRows:
            rows = found[(page - 1) * size : page * size]
            return ListedRows(filter_rows(list(rows), request.user), found.count())

        return list_response(request, SavedFilterRow, find, **taken(Paging.of(request), *PAGE))

    @acted("save_group_filter", SavedFilterRequestSerializer, SavedFilterRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Saves a filter, in place of one's own of the same name."""
        asked = body_of(SavedFilterRequestSerializer, request)
        made = save_filter(by=request.user, now=timezone.now(), **asked)
        return object_response(request, SavedFilterRow, filter_rows([made], request.user)[0], status.HTTP_201_CREATED)


class SavedFilterView(APIView):
    @acted("remove_group_filter", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, filter: int) -> HttpResponse:
        """Deletes one's own saved filter."""
        saved = own_filter(filter, request.user)
        if saved is None:
            raise NotFound(_("You have no saved filter %s.") % filter)
        remove_filter(saved, request.user, timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)
