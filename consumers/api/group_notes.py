"""Notes about groups: GET and POST group-notes/; GET, PUT, PATCH and DELETE group-notes/{id}/."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits.notes import keep_note, remove_note
from consumers.alerts.rules.refused import RuleRefused
from consumers.models import GroupNote
from consumers.selectors.alerts.notes import find_note, note_list

from .alert_access import MayManageAlerts
from .alert_wishes import Labels, Text, not_valid, said, whole
from .lists import Found, list_response
from .objects import document_response, object_response
from .parameters import Paging, Parameters
from .reset_wishes import Strict
from .schema import acted, described

OPTIONAL = ("position", "cluster", "owner", "runbook_url", "note", "labels")


class GroupNoteSerializer(serializers.Serializer[Any]):
    """What people say of groups. Of several notes the lowest position that has a field tells it; labels add up."""

    id = serializers.IntegerField()
    position = serializers.IntegerField()
    cluster = serializers.CharField(allow_null=True)
    group_pattern = serializers.CharField()
    owner = serializers.CharField(allow_null=True)
    runbook_url = serializers.CharField(allow_null=True)
    note = serializers.CharField(allow_null=True)
    labels = serializers.DictField(child=serializers.CharField())
    groups = serializers.IntegerField(help_text="So many groups it names")
    changed_at = serializers.DateTimeField()
    changed_by = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class GroupNoteWishSerializer(Strict):
    position = serializers.IntegerField(required=False, min_value=0, max_value=100_000, help_text="By default 0")
    cluster = Text(max_length=100)
    group_pattern = serializers.CharField(max_length=255, help_text="With * and ?")
    owner = Text(max_length=200)
    runbook_url = Text(max_length=500)
    note = Text()
    labels = Labels()


class GroupNoteListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("group_notes", GroupNoteSerializer, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Notes in the order in which they count."""
        return list_response(
            request,
            GroupNoteSerializer,
            lambda page, size: Found(*note_list(page=page, page_size=size)),
            **Paging.of(request),
        )

    @acted("add_group_note", GroupNoteWishSerializer, GroupNoteSerializer, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a note: an owner, a runbook, a text or labels for groups."""
        return _kept(request, None, said(GroupNoteWishSerializer, request), status.HTTP_201_CREATED)


class GroupNoteView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("group_note", GroupNoteSerializer)
    def get(self, request: Request, note: int) -> Response:
        """A note."""
        Parameters.of(request)
        return object_response(request, GroupNoteSerializer, find_note(_found(note).pk))

    @acted("replace_group_note", GroupNoteWishSerializer, GroupNoteSerializer, status.HTTP_200_OK)
    def put(self, request: Request, note: int) -> Response:
        """Replaces a note: what is left out says nothing any more."""
        found = _found(note)
        return _kept(request, found, whole(GroupNoteWishSerializer, request, GroupNote, OPTIONAL), status.HTTP_200_OK)

    @acted("change_group_note", GroupNoteWishSerializer, GroupNoteSerializer, status.HTTP_200_OK)
    def patch(self, request: Request, note: int) -> Response:
        """Changes what is given of a note."""
        return _kept(request, _found(note), said(GroupNoteWishSerializer, request, partial=True), status.HTTP_200_OK)

    @acted("remove_group_note", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, note: int) -> Response:
        """Removes a note. Incidents that are over keep what it said."""
        remove_note(_found(note), request.user, timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def _found(note_id: int) -> GroupNote:
    found = GroupNote.objects.filter(pk=note_id).first()
    if found is None:
        raise NotFound(f"There is no note {note_id}.")
    return found


def _kept(request: Request, note: GroupNote | None, fields: dict[str, Any], code: int) -> Response:
    try:
        kept = keep_note(fields, note, request.user, timezone.now())
    except RuleRefused as refusal:
        raise not_valid(refusal.errors) from None
    return document_response(request, GroupNoteSerializer, GroupNoteSerializer(find_note(kept.pk)).data, code)
