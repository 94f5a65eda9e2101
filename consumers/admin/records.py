"""Readings, runs of the pipeline, and leases."""

from django.contrib import admin

from consumers.models import Lease, PipelineRun, Reading

from .read_only import ReadOnlyAdmin


@admin.register(Reading)
class ReadingAdmin(ReadOnlyAdmin):
    list_display = ["taken_at", "cluster", "complete", "queues", "calls", "bytes", "seconds", "error"]
    list_filter = ["cluster", "complete"]
    list_select_related = ["cluster"]


@admin.register(PipelineRun)
class PipelineRunAdmin(ReadOnlyAdmin):
    list_display = ["started_at", "since", "until", "seconds", "groups_judged", "queues_judged", "error"]


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin):
    list_display = ["name", "holder", "expires_at"]
