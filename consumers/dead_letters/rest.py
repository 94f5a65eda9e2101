"""Dead-letter messages of groups/{cluster}/{group}/: GET dlq/ and dlq/export/."""

from typing import Any

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.dead_letters.exports.stream import (
    CsvLines,
    ExportFailed,
    ExportFormat,
    ExportWanted,
    JsonLines,
    lines_of,
)
from consumers.dead_letters.inspection import MAY_SEE, note_seen
from consumers.dead_letters.queries.filters import TEXTS, TIMES, DeadLetterFilters
from consumers.dead_letters.queries.listing import Completeness, DeadLetterRow, dead_letter_list
from consumers.dead_letters.tasks import begun_export
from consumers.rest.answers import Found, list_response
from consumers.rest.problems import NotNow, found_group
from consumers.rest.requests import PAGE, Choice, OneKind, Paging, Ranged, taken
from consumers.rest.schema.derived import read_serializer
from consumers.rest.schema.described import described, problems_of

AUDIT = "Exported dead-letter messages with their bodies."


class DeadLetterParameters(Paging, Ranged):
    """`from` and `to`: when it was stored."""

    key = serializers.CharField(required=False, help_text="One whole key")
    key_part = serializers.CharField(required=False, help_text="A part of any key")
    tag = serializers.CharField(required=False)
    message_id = serializers.CharField(
        required=False, help_text="Its producer's id, the first message's, or that of the place where it is stored"
    )
    origin_topic = serializers.CharField(required=False)
    resent = serializers.BooleanField(required=False, help_text="true: it was, or may have been, sent again")


class DeadLetterListView(APIView):
    @described(
        "group_dead_letters",
        DeadLetterRow,
        parameters=DeadLetterParameters,
        paged=True,
        beside={"completeness": read_serializer(Completeness)()},
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Dead-letter messages of a group, newest first, without their bodies; and how complete the list is."""
        values = DeadLetterParameters.of(request)
        found = found_group(cluster, group)
        filters = _filters(values)
        paging = taken(values, *PAGE)

        def find(page: int, page_size: int) -> Found:
            part = dead_letter_list(found, filters, page=page, page_size=page_size)
            beside = {"completeness": read_serializer(Completeness)(part.completeness).data}
            return Found(part.rows, part.count, beside, part.completeness.unknown_reason)

        return list_response(request, DeadLetterRow, find, **paging)


class ExportParameters(DeadLetterParameters):
    shape = ()
    page = None  # type: ignore[assignment]
    page_size = None  # type: ignore[assignment]
    format = Choice([one.value for one in ExportFormat], default=ExportFormat.CSV.value)
    bodies = serializers.BooleanField(default=False, help_text=f"With bodies and properties; wants {MAY_SEE}")


class DeadLetterExportView(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="group_dead_letters_export",
        parameters=[ExportParameters],
        responses={
            (200, CsvLines.content_type.split(";")[0]): OpenApiTypes.STR,
            (200, JsonLines.content_type.split(";")[0]): OpenApiTypes.STR,
        }
        | problems_of(400, 401, 403, 404, 429, 503),
    )
    def get(self, request: Request, cluster: str, group: str) -> StreamingHttpResponse:
        """All dead-letter messages of a group that the brokers hold, streamed; the filters are those of the list.

        An export that could not be read to its end says so in its last line: in CSV it begins with `# incomplete:`, in
        JSON lines it is an object with `error`.
        """
        values = ExportParameters.of(request)
        if values["bodies"] and not request.user.has_perm(MAY_SEE):
            raise PermissionDenied(
                gettext("Message bodies need the permission %(permission)s. Leave out 'bodies'.")
                % {"permission": MAY_SEE}
            )
        found_group(cluster, group)
        wanted = ExportWanted(cluster, group, ExportFormat(values["format"]), values["bodies"], _filters(values))
        try:
            return export_response(request.user, wanted)
        except ExportFailed as error:
            raise NotNow(str(error)) from None


def export_response(user: Any, wanted: ExportWanted) -> StreamingHttpResponse:
    """Raises ExportFailed."""
    stream = begun_export(wanted, user.pk)
    if wanted.with_bodies:
        note_seen(user, str(wanted), AUDIT, timezone.now())
    response = StreamingHttpResponse(stream, content_type=lines_of(wanted.format, ()).content_type)
    name = f"dead-letters-{wanted.cluster}-{wanted.group}.{wanted.format}"
    response.headers["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response.headers["Cache-Control"] = "no-store"
    return response


def _filters(values: dict[str, Any]) -> DeadLetterFilters:
    return DeadLetterFilters(
        **{field: values.get(name) for name, field in TIMES.items()},
        **{name: values.get(name) for name in (*TEXTS, "resent")},
    )
