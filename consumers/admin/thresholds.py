"""Thresholds of single groups: changed by whoever manages alerts, and it is noted who did."""

from django.contrib import admin

from consumers.models import GroupThresholds

from .audit import Audited


@admin.register(GroupThresholds)
class GroupThresholdsAdmin(Audited):
    list_display = ["group", "allowance_seconds", "behind_seconds"]
    list_select_related = ["group"]
    search_fields = ["group__name"]
    # A site has ten thousand groups: they are searched for, not listed.
    raw_id_fields = ["group"]
