"""Admin pages of the states that the pipeline evaluated, and of each group's health."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from consumers.models import GroupHealth, GroupState, GroupWindow, QueueState, StateChange
from consumers.words.rules import rule_words
from consumers.words.unknown import reason_words

from .read_only import ReadOnlyAdmin


@admin.display(description=_("rule"), ordering="rule")
def rule(row: GroupState | QueueState | StateChange) -> str:
    return rule_words(row.rule)


@admin.display(description=_("unknown reason"), ordering="unknown_reason")
def unknown_reason(row: GroupWindow) -> str:
    return reason_words(row.unknown_reason) if row.unknown_reason else ""


@admin.register(GroupState)
class GroupStateAdmin(ReadOnlyAdmin):
    list_display = ["group", "state", rule, "since", "time_lag_seconds", "completeness", "judged_at"]
    list_filter = ["state"]
    list_select_related = ["group"]
    search_fields = ["group__name"]


@admin.register(QueueState)
class QueueStateAdmin(ReadOnlyAdmin):
    list_display = ["group", "queue", "state", rule, "since", "time_lag_seconds", "provisional"]
    list_filter = ["state"]
    list_select_related = ["group", "queue"]
    search_fields = ["group__name"]


@admin.register(StateChange)
class StateChangeAdmin(ReadOnlyAdmin):
    list_display = ["at", "group", "before", "after", rule]
    list_filter = ["after"]
    list_select_related = ["group"]
    search_fields = ["group__name"]


@admin.register(GroupHealth)
class GroupHealthAdmin(ReadOnlyAdmin):
    list_display = ["group", "level", "noted_at", "checked_at"]
    list_filter = ["level"]
    list_select_related = ["group"]
    search_fields = ["group__name"]


@admin.register(GroupWindow)
class GroupWindowAdmin(ReadOnlyAdmin):
    list_display = ["group", "step_seconds", "start", "lag_messages", "readings", unknown_reason]
    list_filter = ["step_seconds"]
    list_select_related = ["group"]
    search_fields = ["group__name"]
