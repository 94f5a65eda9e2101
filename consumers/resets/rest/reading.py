"""Offset resets: lists, one reset, its queues, and CSV. Everybody may look, not everybody may plan."""

from uuid import UUID

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import ResetKind, ResetOutcome, ResetStatus, ResetStep
from consumers.resets.offset_csv import queues_csv, resets_csv
from consumers.resets.offsets_out import group_offsets_csv
from consumers.resets.queries.queues import reset_queues
from consumers.resets.queries.resets import reset_list, shortened
from consumers.resets.queries.rows import ResetQueueRow, ResetRow
from consumers.resets.request import request_plan
from consumers.resets.rest.answers import MayReset, WholeReset, asker_of, found_reset, reset_answer
from consumers.resets.rest.planning import ResetWishSerializer, not_valid, plan_answer, wish_of
from consumers.resets.targets.values import ValueRefused
from consumers.resets.wish import ResetRefused
from consumers.rest.answers import Found, csv_response, described_csv, list_response
from consumers.rest.problems import Refused, found_group
from consumers.rest.requests import PAGE, RANGE, Choice, Exported, OneKind, Paging, Parameters, Ranged, said, taken
from consumers.rest.schema.described import acted, described


# Offset resets: GET and POST resets/, GET resets/{id}/ and its queues/. Everybody may look, not everybody plan.
class ResetParameters(Paging, Ranged):
    """`from` and `to`: when it was planned."""

    cluster = serializers.CharField(required=False)
    group = serializers.CharField(required=False)
    status = Choice(ResetStatus.values, required=False)
    kind = Choice(ResetKind.values, required=False)
    by = serializers.CharField(required=False, help_text="Who planned or applied it")


class ResetListView(APIView):
    permission_classes = [IsAuthenticated, MayReset]

    @described("resets", ResetRow, parameters=ResetParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Resets of all groups, the newest first, with their sums; also of groups that are gone.

        Lists of more than a hundred queues are left to the resets themselves.
        """
        values = ResetParameters.of(request)
        paging, now = taken(values, *PAGE), timezone.now()
        filters = {RANGE.get(name, name): value for name, value in values.items()}

        def find(page: int, page_size: int) -> Found:
            rows, count = reset_list(now, page=page, page_size=page_size, **filters)
            return Found(list(map(shortened, rows)), count)

        return list_response(request, ResetRow, find, **paging)

    @acted("plan_reset", ResetWishSerializer, WholeReset, 201)
    def post(self, request: Request) -> Response:
        """Plans a reset: what would be moved, from where to where. Nothing is changed until it is applied.

        The brokers are asked first. Where that takes longer than some seconds the answer says `planning`: ask again.
        """
        body = said(ResetWishSerializer, request)
        cluster, group = body["cluster"], body["group"]
        found_group(cluster, group)
        try:
            made = request_plan(cluster, group, wish_of(body), asker_of(request), timezone.now())
        except ValueRefused as refusal:
            raise not_valid(refusal) from None
        except ResetRefused as refusal:
            raise Refused(str(refusal)) from None
        return plan_answer(request, made)


class ResetView(APIView):
    @described("reset", WholeReset)
    def get(self, request: Request, reset: UUID) -> Response:
        """A reset: what was planned, how it goes or went, queue by queue, and who did what with it."""
        Parameters.of(request)
        return reset_answer(request, reset, status.HTTP_200_OK)


class ResetQueueParameters(Paging):
    outcome = Choice(ResetOutcome.values, required=False)
    step = Choice(ResetStep.values, required=False)
    left_out = serializers.BooleanField(required=False, help_text="true: only those that are not touched")


class ResetQueueListView(APIView):
    @described("reset_queues", ResetQueueRow, parameters=ResetQueueParameters, paged=True)
    def get(self, request: Request, reset: UUID) -> HttpResponseBase:
        """The queues of a reset, those with trouble first."""
        values = ResetQueueParameters.of(request)
        paging, found = taken(values, *PAGE), found_reset(reset)
        return list_response(
            request,
            ResetQueueRow,
            lambda page, size: Found(*reset_queues(found.pk, page=page, page_size=size, **values)),
            **paging,
        )


# Resets and offsets as CSV: GET resets/export/, resets/{id}/export/ and groups/{cluster}/{group}/offsets/export/.
class AuditParameters(ResetParameters):
    shape = ()
    page = None  # type: ignore[assignment]
    page_size = None  # type: ignore[assignment]


class ExportView(APIView):
    content_negotiation_class = OneKind


class AuditExportView(ExportView):
    @described_csv("resets_export", AuditParameters)
    def get(self, request: Request) -> StreamingHttpResponse:
        """All resets as CSV, the newest first, each with all that was done with it: the audit."""
        filters = {RANGE.get(name, name): value for name, value in AuditParameters.of(request).items()}
        return csv_response(resets_csv(timezone.now(), **filters), "resets")


class ResetExportView(ExportView):
    @described_csv("reset_export")
    def get(self, request: Request, reset: UUID) -> StreamingHttpResponse:
        """The queues of a reset as CSV: what was planned, done and read back of each."""
        Exported.of(request)
        found = found_reset(reset)
        return csv_response(queues_csv(found.pk), f"reset-{found.cluster_name}-{found.group_name}-{found.pk}")


class OffsetExportView(ExportView):
    @described_csv("group_offsets_export")
    def get(self, request: Request, cluster: str, group: str) -> StreamingHttpResponse:
        """Where a group stood at the newest reading, as CSV: the target of a reset may be made of it."""
        Exported.of(request)
        found = found_group(cluster, group)
        return csv_response(group_offsets_csv(found, timezone.now()), f"offsets-{cluster}-{group}")
