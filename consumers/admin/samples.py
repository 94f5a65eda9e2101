"""Admin pages of values sampled from brokers and of values read from offset files."""

from django.contrib import admin

from consumers.models import OffsetFile, QueueSample, TagSample

from .read_only import ReadOnlyAdmin


@admin.register(QueueSample)
class QueueSampleAdmin(ReadOnlyAdmin):
    list_display = ["group", "queue", "offset", "first_stored_at", "start_offset", "start_rule", "asked_at"]
    list_select_related = ["group", "queue"]
    search_fields = ["group__name"]


@admin.register(TagSample)
class TagSampleAdmin(ReadOnlyAdmin):
    list_display = ["group", "topic", "expression", "looked_at", "matching", "asked_at"]
    list_select_related = ["group"]
    search_fields = ["group__name", "topic"]


@admin.register(OffsetFile)
class OffsetFileAdmin(ReadOnlyAdmin):
    list_display = ["path", "cluster", "kind", "broker", "modified_at", "read_at", "rows", "from_backup", "error"]
    list_filter = ["cluster", "kind"]
    list_select_related = ["cluster"]
    search_fields = ["path"]
