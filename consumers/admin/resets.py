"""Admin pages of offset resets: planned, applied and read back. All read-only, without deletion."""

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from consumers.models import LossAcknowledgement, Reset, ResetEvent, ResetQueue

from .read_only import ReadOnlyAdmin


@admin.register(Reset)
class ResetAdmin(ReadOnlyAdmin):
    list_display = [
        "cluster_name",
        "group_name",
        "kind",
        "status",
        "by_name",
        "applied_by_name",
        "created_at",
        "reason",
        "page",
    ]
    list_filter = ["status", "kind", "cluster_name"]
    search_fields = ["group_name", "by_name", "reason"]
    date_hierarchy = "created_at"

    @admin.display(description="Page")
    def page(self, reset: Reset) -> str:
        return format_html('<a href="{}">plan and outcome</a>', self.view_on_site(reset))

    def view_on_site(self, reset: Reset) -> str:
        return reverse("reset", args=[reset.pk])


@admin.register(ResetQueue)
class ResetQueueAdmin(ReadOnlyAdmin):
    list_display = ["reset", "topic", "broker", "queue_id", "before", "target", "after", "step", "outcome", "error"]
    list_filter = ["outcome", "step"]
    list_select_related = ["reset"]
    search_fields = ["reset__group_name", "topic"]


@admin.register(ResetEvent)
class ResetEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "reset", "by_name", "address", "via", "sentence"]
    list_select_related = ["reset"]
    search_fields = ["reset__group_name", "by_name", "sentence"]
    date_hierarchy = "at"


@admin.register(LossAcknowledgement)
class LossAcknowledgementAdmin(ReadOnlyAdmin):
    list_display = ["at", "group", "by_name", "applied_at"]
    list_select_related = ["group"]
    search_fields = ["group__name", "by_name"]
    date_hierarchy = "at"
