"""Admin pages of groups, members, topics and queues."""

from django.contrib import admin
from django.urls import reverse

from consumers.models import Assignment, Client, ConsumerGroup, GroupTotal, Queue, QueueSnapshot, Topic

from .read_only import ReadOnlyAdmin


@admin.register(ConsumerGroup)
class ConsumerGroupAdmin(ReadOnlyAdmin):
    list_display = ["name", "cluster", "kind", "online", "members", "message_model", "consume_type", "membership_at"]
    list_filter = ["cluster", "kind", "online"]
    list_select_related = ["cluster"]
    search_fields = ["name"]

    def view_on_site(self, group: ConsumerGroup) -> str:
        return reverse("group", args=[group.cluster.name, group.name])


@admin.register(GroupTotal)
class GroupTotalAdmin(ReadOnlyAdmin):
    list_display = ["group", "queues", "unknown_queues", "lag_messages", "lag_messages_at_least", "unknown_reason"]
    list_select_related = ["group"]
    search_fields = ["group__name"]


@admin.register(Client)
class ClientAdmin(ReadOnlyAdmin):
    list_display = ["client_id", "group", "address", "language", "version", "seen_since", "last_seen", "gone_by"]
    list_select_related = ["group"]
    search_fields = ["client_id", "group__name"]


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["group", "queue", "client_id", "seen_since", "last_seen", "gone_by"]
    list_select_related = ["group", "queue"]
    search_fields = ["client_id", "group__name"]


@admin.register(Topic)
class TopicAdmin(ReadOnlyAdmin):
    list_display = ["name", "cluster", "kind", "first_seen_at"]
    list_filter = ["cluster", "kind"]
    list_select_related = ["cluster"]
    search_fields = ["name"]


@admin.register(Queue)
class QueueAdmin(ReadOnlyAdmin):
    list_display = ["topic", "broker", "queue_id", "readable", "writable"]
    list_select_related = ["topic"]
    search_fields = ["topic__name", "broker"]


@admin.register(QueueSnapshot)
class QueueSnapshotAdmin(ReadOnlyAdmin):
    list_display = ["group", "queue", "consumer_offset", "broker_offset", "min_offset", "unknown_reason", "changed_at"]
    list_select_related = ["group", "queue"]
    search_fields = ["group__name"]
