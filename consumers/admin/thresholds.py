"""Thresholds of single groups: changed by whoever manages alerts, with Django's log of who did."""

from django.contrib import admin

from consumers.models import GroupThresholds


@admin.register(GroupThresholds)
class GroupThresholdsAdmin(admin.ModelAdmin):
    list_display = ["group", "allowance_seconds", "behind_seconds"]
    list_select_related = ["group"]
    search_fields = ["group__name"]
    # A site has ten thousand groups: they are searched for, not listed.
    raw_id_fields = ["group"]
