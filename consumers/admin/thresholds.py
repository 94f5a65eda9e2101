"""Admin page of thresholds of single groups. Users who manage alerts change them; each change is audited."""

from django.contrib import admin

from consumers.models import GroupThresholds

from .audit import Audited


@admin.register(GroupThresholds)
class GroupThresholdsAdmin(Audited):
    list_display = ["group", "allowance_seconds", "behind_seconds"]
    list_select_related = ["group"]
    search_fields = ["group__name"]
    # A site may have 10,000 groups, so the field is a search and not a list.
    raw_id_fields = ["group"]
