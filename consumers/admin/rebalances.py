"""Admin pages of detected rebalances and of members' subscriptions."""

from django.contrib import admin

from consumers.models import ClientSubscription, Rebalance, RebalanceTopic

from .read_only import ReadOnlyAdmin


@admin.register(Rebalance)
class RebalanceAdmin(ReadOnlyAdmin):
    list_display = ["started_before", "group", "cause", "members_before", "members_after", "settled_at", "polls"]
    list_filter = ["cause"]
    list_select_related = ["group"]
    search_fields = ["group__name"]


@admin.register(RebalanceTopic)
class RebalanceTopicAdmin(ReadOnlyAdmin):
    list_display = ["rebalance", "topic", "queues", "queues_moved", "doubly_owned_queues", "replayed_messages"]
    list_select_related = ["rebalance__group"]
    search_fields = ["topic", "rebalance__group__name"]


@admin.register(ClientSubscription)
class ClientSubscriptionAdmin(ReadOnlyAdmin):
    list_display = ["client_id", "group", "topic", "expression", "seen_since", "last_seen", "gone_by"]
    list_select_related = ["group"]
    search_fields = ["client_id", "group__name", "topic"]
