"""Offset resets: lists, one reset, its queues, and CSV. Everybody may look, not everybody may plan."""

from typing import Any
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
from consumers.rest.answers import ListedRows, csv_response, described_csv, list_response
from consumers.rest.problems import found_group
from consumers.rest.requests import (
    PAGE,
    RANGE,
    Choice,
    Exported,
    NothingSerializer,
    OneKind,
    Paging,
    Parameters,
    Ranged,
    said,
    taken,
)
from consumers.rest.schema import acted, described

from .acts import apply, cancel, restore, resume
from .offset_csv import group_offsets_csv, queues_csv, resets_csv
from .planning_rest import (
    ConfirmResetSerializer,
    MayReset,
    ResetRequestSerializer,
    RestoreSerializer,
    WholeReset,
    asker_of,
    found_reset,
    plan_answer,
    reset_answer,
    reset_request_of,
)
from .queries import ResetFilters, reset_list, shortened
from .request import request_plan
from .rows import ResetQueueRow, ResetRow, reset_queues
from .tasks import hand_over

# POST resets/{id}/apply/, resume/, restore/ and cancel/. The work itself is the general worker's.


class ActView(APIView):
    permission_classes = [IsAuthenticated, MayReset]


class ApplyResetView(ActView):
    @acted("apply_reset", ConfirmResetSerializer, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Applies a plan. It stops, with nothing changed, where the group has moved on too far since."""
        return _let_go(request, reset, apply)


class ResumeResetView(ActView):
    @acted("resume_reset", ConfirmResetSerializer, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Goes on with the queues that a reset which ended half-way has not moved."""
        return _let_go(request, reset, resume)


class RestoreResetView(ActView):
    @acted("restore_reset", RestoreSerializer, WholeReset, status.HTTP_201_CREATED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Plans the way back to the offsets from before. It is applied as any other plan."""
        body = said(RestoreSerializer, request)
        made = restore(found_reset(reset), asker_of(request), body["reason"], timezone.now(), clip=body["clip"])
        return plan_answer(request, made)


class CancelResetView(ActView):
    @acted("cancel_reset", None, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Cancels a plan, or a reset that is being applied and has not yet changed any broker."""
        said(NothingSerializer, request)
        found = found_reset(reset)
        cancel(found, asker_of(request), timezone.now())
        return reset_answer(request, reset, status.HTTP_202_ACCEPTED)


def _let_go(request: Request, reset: UUID, act: Any) -> Response:
    confirm = said(ConfirmResetSerializer, request)["confirm"]
    found = found_reset(reset)
    act(found, asker_of(request), confirm, timezone.now())
    # Where Redis is down, beat hands it over in its turn.
    hand_over(found.pk)
    return reset_answer(request, reset, status.HTTP_202_ACCEPTED)


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
        filters = ResetFilters(**{RANGE.get(name, name): value for name, value in values.items()})

        def find(page: int, page_size: int) -> ListedRows:
            rows, count = reset_list(now, filters, page=page, page_size=page_size)
            return ListedRows(list(map(shortened, rows)), count)

        return list_response(request, ResetRow, find, **paging)

    @acted("plan_reset", ResetRequestSerializer, WholeReset, 201)
    def post(self, request: Request) -> Response:
        """Plans a reset: what would be moved, from where to where. Nothing is changed until it is applied.

        The brokers are asked first. Where that takes longer than some seconds the answer says `planning`: ask again.
        """
        body = said(ResetRequestSerializer, request)
        cluster, group = body["cluster"], body["group"]
        found_group(cluster, group)
        made = request_plan(cluster, group, reset_request_of(body), asker_of(request), timezone.now())
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
            lambda page, size: ListedRows(*reset_queues(found.pk, page=page, page_size=size, **values)),
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
        return csv_response(resets_csv(timezone.now(), ResetFilters(**filters)), "resets")


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
