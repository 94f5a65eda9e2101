"""Admin pages of readings, pipeline runs, upkeep tasks and measurements, leases, and clocks."""

from django.contrib import admin

from consumers.models import ClockChange, DueWindow, HistorySize, Lease, MachineClock, PipelineRun, Reading

from .read_only import ReadOnlyAdmin


@admin.register(Reading)
class ReadingAdmin(ReadOnlyAdmin):
    list_display = ["taken_at", "cluster", "complete", "queues", "calls", "bytes", "seconds", "error"]
    list_filter = ["cluster", "complete"]
    list_select_related = ["cluster"]


@admin.register(PipelineRun)
class PipelineRunAdmin(ReadOnlyAdmin):
    list_display = ["started_at", "since", "until", "seconds", "groups_judged", "queues_judged", "error"]


@admin.register(DueWindow)
class DueWindowAdmin(ReadOnlyAdmin):
    list_display = ["start", "step_seconds", "cluster"]
    list_filter = ["step_seconds"]
    list_select_related = ["cluster"]


@admin.register(HistorySize)
class HistorySizeAdmin(ReadOnlyAdmin):
    list_display = ["measured_at", "seconds", "free_bytes"]


@admin.register(Lease)
class LeaseAdmin(ReadOnlyAdmin):
    list_display = ["name", "holder", "expires_at"]


@admin.register(MachineClock)
class MachineClockAdmin(ReadOnlyAdmin):
    list_display = ["name", "seen_at", "steady_seconds", "doubt", "doubt_at"]


@admin.register(ClockChange)
class ClockChangeAdmin(ReadOnlyAdmin):
    list_display = ["at", "machine", "seconds", "measured", "files"]
