"""The mixin that makes an audit event of each change on an admin page; the pages of users and their groups."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from django.utils import timezone

from consumers.jobs.audit import note
from consumers.models import AuditAction

# Django deletes its own log of a user's actions together with the user.
ACTIONS = {1: AuditAction.ADDED, 2: AuditAction.CHANGED, 3: AuditAction.DELETED}


class Audited(admin.ModelAdmin):
    """Records each entry of Django's log of actions as an audit event as well."""

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        return self._noted(request, obj, super().log_addition(request, obj, message))

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> LogEntry:
        return self._noted(request, obj, super().log_change(request, obj, message))

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        for subject in queryset:
            note(subject, str(subject), request.user, "Deleted.", timezone.now(), AuditAction.DELETED)
        return super().log_deletions(request, queryset)

    def _noted(self, request: HttpRequest, subject: Model, entry: LogEntry) -> LogEntry:
        action = ACTIONS[entry.action_flag]
        note(subject, str(subject), request.user, entry.get_change_message(), entry.action_time, action)
        return entry


for model, page in ((User, UserAdmin), (Group, GroupAdmin)):
    admin.site.unregister(model)
    admin.site.register(model, type(f"Audited{page.__name__}", (Audited, page), {}))
