"""Dead-letter messages of groups/{cluster}/{group}/: GET dlq/ and dlq/export/."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext, gettext_lazy
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.dead_letters.export_stream import (
    CsvLines,
    ExportFailed,
    ExportFormat,
    ExportWanted,
    JsonLines,
    lines_of,
)
from consumers.dead_letters.filters import TEXTS, TIMES, DeadLetterFilters
from consumers.dead_letters.listing import Completeness, DeadLetterRow, dead_letter_list
from consumers.dead_letters.resend.plan import LEAST_RATE, MOST_RATE, USUAL_RATE, ResendRequest, Selection, plan
from consumers.dead_letters.resend.preview import (
    ResendMessageRow,
    ResendRow,
    cancel,
    find_resend,
    preview_of,
    resend_list,
    resend_messages,
    start,
)
from consumers.dead_letters.resend.run import MAY_RESEND
from consumers.jobs.permissions import check, why_not
from consumers.models import Destination, Resend, ResendOutcome, ResendStatus
from consumers.queries.declared import public
from consumers.rest.access import MayChange
from consumers.rest.answers import ListedRows, list_response, object_response
from consumers.rest.problems import NotNow, found_group
from consumers.rest.requests import PAGE, RANGE, Choice, OneKind, Paging, Parameters, Ranged, body_of, taken
from consumers.rest.schema import acted, described, problems_of, read_serializer

from .inspection import MAY_SEE, note_seen
from .tasks import begun_export, enqueue

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

        def find(page: int, page_size: int) -> ListedRows:
            part = dead_letter_list(found, filters, page=page, page_size=page_size)
            extra = {"completeness": read_serializer(Completeness)(part.completeness).data}
            return ListedRows(part.rows, part.count, extra, part.completeness.unknown_reason)

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
        if values["bodies"] and (against := why_not(request.user, MAY_SEE, cluster)):
            raise PermissionDenied(gettext("%(why)s Or leave out 'bodies'.") % {"why": against})
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


# Resends of dead letters: GET and POST groups/{cluster}/{group}/resends/, resends/{id}/ and what is done with one.
#
# Everybody may look; planning, starting and cancelling need a permission.


@dataclass(frozen=True, kw_only=True)
class PlannedResend(ResendRow):
    warnings: Sequence[str] = field(metadata=public("What to know before it is started"))
    receivers: Sequence[str] = field(
        metadata=public("The groups that get the messages, as far as readings have seen them")
    )


class PlaceSerializer(serializers.Serializer[Any]):
    broker = serializers.CharField()
    queue_id = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    offset = serializers.IntegerField(min_value=0, max_value=2**63 - 1)


class FilterSerializer(serializers.Serializer[Any]):
    """As the parameters of `dlq/`."""

    key = serializers.CharField(required=False)
    key_part = serializers.CharField(required=False)
    tag = serializers.CharField(required=False)
    message_id = serializers.CharField(required=False)
    origin_topic = serializers.CharField(required=False)
    resent = serializers.BooleanField(required=False)
    to = serializers.DateTimeField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """`from` is a word of Python's own, so that it cannot be declared as the others are."""
        return {"from": serializers.DateTimeField(required=False), **super().get_fields()}

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError({name: [gettext("Unknown filter.")] for name in unknown})
        return super().to_internal_value(data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "from" in attrs and "to" in attrs and attrs["from"] >= attrs["to"]:
            raise serializers.ValidationError({"from": [gettext("The range is empty: 'from' must be before 'to'.")]})
        return attrs


class ResendRequestSerializer(serializers.Serializer[Any]):
    """One of `messages`, `filter` and `all`: an empty list or filter is refused, never taken for all."""

    messages = PlaceSerializer(
        many=True,
        required=False,
        allow_empty=False,
        error_messages={"empty": gettext_lazy("No message is selected. Name at least one, or use 'filter' or 'all'.")},
    )
    filter = FilterSerializer(required=False)
    all = serializers.BooleanField(required=False, help_text="true: all dead letters of the group")
    destination = serializers.ChoiceField(Destination.choices)
    reason = serializers.CharField()
    again = serializers.BooleanField(default=False)
    rate_per_second = serializers.FloatField(default=USUAL_RATE, min_value=LEAST_RATE, max_value=MOST_RATE)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = [name for name in ("messages", "filter", "all") if name in attrs]
        if len(given) != 1:
            raise serializers.ValidationError(
                {"messages": [gettext("Give exactly one of 'messages', 'filter' and 'all'.")]}
            )
        if "filter" in attrs and not attrs["filter"]:
            sentence = gettext("An empty filter selects nothing. Give at least one filter, or use 'all': true.")
            raise serializers.ValidationError({"filter": [sentence]})
        if attrs.get("all") is False:
            raise serializers.ValidationError(
                {"all": [gettext("Use true, or leave it out and give 'messages' or 'filter'.")]}
            )
        return attrs


class ConfirmSerializer(serializers.Serializer[Any]):
    confirm = serializers.CharField(help_text="The group's name")


class MayResend(MayChange):
    permission = MAY_RESEND


class ResendParameters(Paging):
    status = Choice(ResendStatus.values, required=False)


class ResendListView(APIView):
    permission_classes = [IsAuthenticated, MayResend]

    @described("group_resends", ResendRow, parameters=ResendParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Resends of the group's dead-letter messages, the newest first."""
        values = ResendParameters.of(request)
        found = found_group(cluster, group)
        now, status_ = timezone.now(), values.pop("status", None)
        return list_response(
            request,
            ResendRow,
            lambda page, size: ListedRows(*resend_list(found, now, status=status_, page=page, page_size=size)),
            **values,
        )

    @acted("plan_resend", ResendRequestSerializer, PlannedResend, 201)
    def post(self, request: Request, cluster: str, group: str) -> Response:
        """Plans a resend. Nothing is sent until it is started."""
        found = found_group(cluster, group)
        requested = body_of(ResendRequestSerializer, request)
        made = plan(found, _request(requested), request.user, timezone.now())
        return _answer(request, made.pk, status.HTTP_201_CREATED)


class ResendView(APIView):
    @described("resend", PlannedResend)
    def get(self, request: Request, resend: UUID) -> Response:
        """How a resend goes, or went."""
        Parameters.of(request)
        return _answer(request, _found(resend).pk, status.HTTP_200_OK)


class MessageParameters(Paging):
    outcome = Choice([outcome.value for outcome in ResendOutcome], required=False)


class ResendMessageListView(APIView):
    @described("resend_messages", ResendMessageRow, parameters=MessageParameters, paged=True)
    def get(self, request: Request, resend: UUID) -> HttpResponseBase:
        """The messages of a resend, in the order in which they are sent."""
        values = MessageParameters.of(request)
        wanted = values.pop("outcome", None)
        outcome = None if wanted is None else ResendOutcome(wanted)
        found = _found(resend)
        return list_response(
            request,
            ResendMessageRow,
            lambda page, size: ListedRows(*resend_messages(found.pk, outcome=outcome, page=page, page_size=size)),
            **values,
        )


class StartResendView(APIView):
    permission_classes = [IsAuthenticated, MayResend]

    @acted("start_resend", ConfirmSerializer, PlannedResend, 202)
    def post(self, request: Request, resend: UUID) -> Response:
        """Starts a planned resend; the general worker does the work."""
        found = _permitted(request, resend)
        confirm = body_of(ConfirmSerializer, request)["confirm"]
        start(found, request.user, confirm, timezone.now())
        enqueue(found.pk)
        return _answer(request, found.pk, status.HTTP_202_ACCEPTED)


class CancelResendView(APIView):
    permission_classes = [IsAuthenticated, MayResend]

    @acted("cancel_resend", None, PlannedResend, 202)
    def post(self, request: Request, resend: UUID) -> Response:
        """Ends a plan at once, and a running resend with the messages at hand."""
        found = _permitted(request, resend)
        cancel(found, request.user, timezone.now())
        return _answer(request, found.pk, status.HTTP_202_ACCEPTED)


def _request(values: dict[str, Any]) -> ResendRequest:
    messages = values.get("messages")
    if messages is not None:
        selection = Selection(messages=[(one["broker"], one["queue_id"], one["offset"]) for one in messages])
    elif values.get("all"):
        selection = Selection(filters=DeadLetterFilters())
    else:
        filters = {RANGE.get(name, name): value for name, value in values["filter"].items()}
        selection = Selection(filters=DeadLetterFilters(**filters))
    return ResendRequest(
        selection, Destination(values["destination"]), values["reason"], values["again"], values["rate_per_second"]
    )


def _found(resend: UUID) -> Resend:
    found = Resend.objects.select_related("group__cluster").filter(pk=resend).first()
    if found is None:
        raise NotFound(gettext("There is no resend %(resend)s.") % {"resend": resend})
    return found


def _permitted(request: Request, resend: UUID) -> Resend:
    """Raises NotFound; PermissionDenied where whoever asks may not resend messages of its cluster."""
    found = _found(resend)
    check(request.user, MAY_RESEND, found.group.cluster.name)
    return found


def _answer(request: Request, resend_id: UUID, code: int) -> Response:
    now = timezone.now()
    row, seen = find_resend(resend_id, now), preview_of(resend_id, now)
    whole = PlannedResend(**vars(row), warnings=seen.warnings, receivers=seen.receivers)
    return object_response(request, PlannedResend, whole, code)
