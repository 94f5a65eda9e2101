"""Notes about groups: GET and POST group-notes/; GET, PUT, PATCH and DELETE group-notes/{id}/."""

from django.http.response import HttpResponseBase
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits.notes import keep_note, remove_note
from consumers.models import GroupNote
from consumers.rest.answers import Found, list_response
from consumers.rest.requests import Paging, Strict
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.notes import find_note, note_list
from consumers.selectors.alerts.setting_rows import NoteRow

from .kept import Kept
from .requests import Labels, MayManageAlerts, Text

OPTIONAL = ("position", "cluster", "owner", "runbook_url", "note", "labels")


class GroupNoteWishSerializer(Strict):
    position = serializers.IntegerField(required=False, min_value=0, max_value=100_000, help_text="By default 0")
    cluster = Text(max_length=100)
    group_pattern = serializers.CharField(max_length=255, help_text="With * and ?")
    owner = Text(max_length=200)
    runbook_url = Text(max_length=500)
    note = Text()
    labels = Labels()


NOTES = Kept(
    "note",
    GroupNote,
    NoteRow,
    GroupNoteWishSerializer,
    lambda pk, now: find_note(pk),
    keep_note,
    remove_note,
    optional=OPTIONAL,
)


class GroupNoteListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("group_notes", NoteRow, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Notes in the order in which they count."""
        return list_response(
            request,
            NoteRow,
            lambda page, size: Found(*note_list(page=page, page_size=size)),
            **Paging.of(request),
        )

    @acted("add_group_note", GroupNoteWishSerializer, NoteRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a note: an owner, a runbook, a text or labels for groups."""
        return NOTES.made(request)


class GroupNoteView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("group_note", NoteRow)
    def get(self, request: Request, note: int) -> Response:
        """A note."""
        return NOTES.read(request, note)

    @acted("replace_group_note", GroupNoteWishSerializer, NoteRow, status.HTTP_200_OK)
    def put(self, request: Request, note: int) -> Response:
        """Replaces a note: what is left out says nothing any more."""
        return NOTES.replaced(request, note)

    @acted("change_group_note", GroupNoteWishSerializer, NoteRow, status.HTTP_200_OK)
    def patch(self, request: Request, note: int) -> Response:
        """Changes what is given of a note."""
        return NOTES.changed(request, note)

    @acted("remove_group_note", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, note: int) -> Response:
        """Removes a note. Incidents that are over keep what it said."""
        return NOTES.removed(request, note)
