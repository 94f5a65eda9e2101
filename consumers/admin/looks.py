"""Django's log of actions: who changed what here, and who looked at which body of a message."""

from django.contrib import admin
from django.contrib.admin.models import LogEntry

from .read_only import ReadOnlyAdmin


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    list_display = ["action_time", "user", "object_repr", "change_message"]
    list_select_related = ["user", "content_type"]
    search_fields = ["user__username", "object_repr"]
