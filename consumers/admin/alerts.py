"""Admin pages of stored rules, incidents and deliveries. The pages under /alerts/ change them."""

from django.contrib import admin

from consumers.models import (
    AlertEngine,
    AlertRule,
    Channel,
    Delivery,
    DeliveryAttempt,
    DeliveryEvent,
    GroupNote,
    Incident,
    IncidentEvent,
    RulePreview,
    Silence,
)

from .read_only import ReadOnlyAdmin


@admin.register(AlertEngine)
class AlertEngineAdmin(ReadOnlyAdmin):
    list_display = ["evaluated_at", "seconds", "rules", "groups", "error_at", "error"]


@admin.register(AlertRule)
class AlertRuleAdmin(ReadOnlyAdmin):
    list_display = ["name", "enabled", "measure", "comparison", "threshold", "states", "for_seconds", "severity"]
    list_filter = ["enabled", "severity", "measure"]
    search_fields = ["name", "group_pattern", "topic"]


@admin.register(GroupNote)
class GroupNoteAdmin(ReadOnlyAdmin):
    list_display = ["position", "cluster", "group_pattern", "owner", "runbook_url", "labels"]
    search_fields = ["group_pattern", "owner"]


@admin.register(Silence)
class SilenceAdmin(ReadOnlyAdmin):
    list_display = ["reason", "cluster", "group_pattern", "topic", "rule", "starts_at", "ends_at", "by_name"]
    list_select_related = ["rule"]
    search_fields = ["reason", "group_pattern", "by_name"]


@admin.register(Incident)
class IncidentAdmin(ReadOnlyAdmin):
    list_display = ["rule_name", "severity", "subject_key", "status", "started_at", "fired_at", "resolved_at"]
    list_filter = ["status", "severity", "subject_kind"]
    search_fields = ["rule_name", "subject_key"]
    date_hierarchy = "started_at"


@admin.register(IncidentEvent)
class IncidentEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "incident", "kind", "sentence", "by_name"]
    list_filter = ["kind"]
    list_select_related = ["incident"]
    date_hierarchy = "at"


@admin.register(Channel)
class ChannelAdmin(ReadOnlyAdmin):
    """Sealed columns are not shown, not even in their sealed form."""

    list_display = ["name", "kind", "enabled", "target", "severities", "changed_at", "changed_by_name"]
    exclude = ["sealed"]
    search_fields = ["name", "target"]


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "channel", "number", "is_test", "status", "attempts", "sent_at", "error"]
    list_filter = ["status"]
    list_select_related = ["channel"]
    date_hierarchy = "created_at"


@admin.register(DeliveryEvent)
class DeliveryEventAdmin(ReadOnlyAdmin):
    list_display = ["delivery", "channel", "event"]
    list_select_related = ["delivery", "channel", "event"]


@admin.register(DeliveryAttempt)
class DeliveryAttemptAdmin(ReadOnlyAdmin):
    list_display = ["at", "delivery", "number", "ok", "seconds", "answer"]
    list_select_related = ["delivery"]
    date_hierarchy = "at"


@admin.register(RulePreview)
class RulePreviewAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "by", "since", "until", "status", "seconds", "error"]
    list_select_related = ["by"]
