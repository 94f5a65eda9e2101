"""Resets and offsets as CSV: GET resets/export/, resets/{id}/export/ and groups/{cluster}/{group}/offsets/export/."""

from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.resets.offset_csv import queues_csv, resets_csv
from consumers.resets.offsets_out import group_offsets_csv
from consumers.rest.answers import csv_response, described_csv
from consumers.rest.problems import found_group
from consumers.rest.requests import RANGE, Exported, OneKind

from .answers import found_reset
from .reading import ResetParameters


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
