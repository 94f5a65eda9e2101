"""Admin pages of retry backlogs, dead-letter messages and resends."""

from django.contrib import admin

from consumers.models import (
    DeadLetter,
    DeadLetterLook,
    DelayLevel,
    GroupBroker,
    HeadMessage,
    Resend,
    ResendItem,
    Rung,
)

from .read_only import ReadOnlyAdmin


@admin.register(GroupBroker)
class GroupBrokerAdmin(ReadOnlyAdmin):
    list_display = ["group", "broker", "configured", "consume_enable", "retry_queue_nums", "retry_max_times"]
    list_select_related = ["group"]
    search_fields = ["group__name", "broker"]


@admin.register(DelayLevel)
class DelayLevelAdmin(ReadOnlyAdmin):
    list_display = ["cluster", "broker", "level", "delay_offset", "broker_offset", "next_due_at", "read_at"]
    list_select_related = ["cluster"]


@admin.register(Rung)
class RungAdmin(ReadOnlyAdmin):
    list_display = ["group", "broker", "level", "messages", "oldest_stored_at", "next_due_at", "sampled_at"]
    list_select_related = ["group"]
    search_fields = ["group__name"]


@admin.register(HeadMessage)
class HeadMessageAdmin(ReadOnlyAdmin):
    list_display = ["group", "queue", "client_id", "offset", "since", "message_id", "error"]
    list_select_related = ["group", "queue"]
    search_fields = ["group__name", "message_id"]


@admin.register(DeadLetter)
class DeadLetterAdmin(ReadOnlyAdmin):
    list_display = ["group", "broker", "queue_id", "offset", "message_id", "origin_topic", "stored_at"]
    list_select_related = ["group"]
    search_fields = ["group__name", "message_id"]


@admin.register(DeadLetterLook)
class DeadLetterLookAdmin(ReadOnlyAdmin):
    list_display = ["group", "broker", "queue_id", "indexed_from", "indexed_to", "looked_at", "error"]
    list_select_related = ["group"]
    search_fields = ["group__name"]


@admin.register(Resend)
class ResendAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "group", "by_name", "destination", "status", "finished_at", "reason"]
    list_filter = ["status"]
    list_select_related = ["group"]
    search_fields = ["group__name", "by_name"]


@admin.register(ResendItem)
class ResendItemAdmin(ReadOnlyAdmin):
    list_display = ["resend", "broker", "queue_id", "offset", "message_id", "outcome", "at", "error"]
    list_filter = ["outcome"]
    list_select_related = ["resend"]
    search_fields = ["message_id"]
