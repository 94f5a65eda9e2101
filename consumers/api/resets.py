"""Offset resets to look at: GET resets/, resets/{id}/ and its queues. Everybody may."""

from uuid import UUID

from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import ResetOutcome, ResetStatus, ResetStep
from consumers.selectors.resets.queues import reset_queues
from consumers.selectors.resets.resets import reset_list

from .pages import page_response
from .parameters import Choice, Paging, Parameters
from .reset_answers import found_reset, reset_answer
from .reset_fields import ResetQueueSerializer, ResetSerializer, WholeResetSerializer
from .schema import described


class ResetParameters(Paging):
    cluster = serializers.CharField(required=False)
    group = serializers.CharField(required=False)
    status = Choice(ResetStatus.values, required=False)
    by = serializers.CharField(required=False, help_text="Who planned or applied it")


class ResetListView(APIView):
    @described("resets", ResetSerializer, parameters=ResetParameters, paged=True)
    def get(self, request: Request) -> Response:
        """Resets of all groups, the newest first, with their sums; also of groups that are gone."""
        values = ResetParameters.of(request)
        paging = {name: values[name] for name in ("page", "page_size")}
        rows, count = reset_list(timezone.now(), **values)
        return page_response(request, ResetSerializer, rows, count=count, **paging)


class ResetView(APIView):
    @described("reset", WholeResetSerializer)
    def get(self, request: Request, reset: UUID) -> Response:
        """A reset: what was planned, how it goes or went, queue by queue, and who did what with it."""
        Parameters.of(request)
        return reset_answer(request, reset, status.HTTP_200_OK)


class ResetQueueParameters(Paging):
    outcome = Choice(ResetOutcome.values, required=False)
    step = Choice(ResetStep.values, required=False)
    left_out = serializers.BooleanField(required=False, help_text="true: only those that are not touched")


class ResetQueueListView(APIView):
    @described("reset_queues", ResetQueueSerializer, parameters=ResetQueueParameters, paged=True)
    def get(self, request: Request, reset: UUID) -> Response:
        """The queues of a reset, those with trouble first."""
        values = ResetQueueParameters.of(request)
        paging = {name: values[name] for name in ("page", "page_size")}
        rows, count = reset_queues(found_reset(reset).pk, **values)
        return page_response(request, ResetQueueSerializer, rows, count=count, **paging)
