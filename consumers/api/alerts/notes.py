"""Notes about groups: GET and POST group-notes/; GET, PUT, PATCH and DELETE group-notes/{id}/."""

from django.http.response import HttpResponseBase
from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.edits import keep_note, remove_note
from consumers.alerts.notes import NOTE_FIELDS
from consumers.models import GroupNote
from consumers.rest.answers import Found, list_response
from consumers.rest.requests import Paging
from consumers.rest.schema.described import acted, described
from consumers.selectors.alerts.notes import find_note, note_list
from consumers.selectors.alerts.setting_rows import NoteRow

from .resource import Resource
from .serializers import MayManageAlerts, serializer_of

GroupNoteRequestSerializer = serializer_of("GroupNoteWish", NOTE_FIELDS)
NOTES = Resource(
    "note",
    GroupNote,
    NoteRow,
    GroupNoteRequestSerializer,
    NOTE_FIELDS,
    lambda pk, now: find_note(pk),
    keep_note,
    remove_note,
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

    @acted("add_group_note", GroupNoteRequestSerializer, NoteRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a note: an owner, a runbook, a text or labels for groups."""
        return NOTES.made(request)


class GroupNoteView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("group_note", NoteRow)
    def get(self, request: Request, note: int) -> Response:
        """A note."""
        return NOTES.read(request, note)

    @acted("replace_group_note", GroupNoteRequestSerializer, NoteRow, status.HTTP_200_OK)
    def put(self, request: Request, note: int) -> Response:
        """Replaces a note: what is left out says nothing any more."""
        return NOTES.replaced(request, note)

    @acted("change_group_note", GroupNoteRequestSerializer, NoteRow, status.HTTP_200_OK)
    def patch(self, request: Request, note: int) -> Response:
        """Changes what is given of a note."""
        return NOTES.changed(request, note)

    @acted("remove_group_note", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, note: int) -> Response:
        """Removes a note. Incidents that are over keep what it said."""
        return NOTES.removed(request, note)
