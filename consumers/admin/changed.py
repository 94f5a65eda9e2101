"""Admin pages of thresholds and tokens, which people change; each change is an audit event."""

from django.contrib import admin
from django.http import HttpRequest

from consumers.models import ApiToken, GroupThresholds

from .audit import Audited


@admin.register(GroupThresholds)
class GroupThresholdsAdmin(Audited):
    """Thresholds of single groups; users who manage alerts change them."""

    list_display = ["group", "allowance_seconds", "behind_seconds"]
    list_select_related = ["group"]
    search_fields = ["group__name"]
    # A site may have 10,000 groups, so the field is a search and not a list.
    raw_id_fields = ["group"]


@admin.register(ApiToken)
class ApiTokenAdmin(Audited):
    """Shown without their digest; deleting one revokes it. `manage.py token create` makes them."""

    list_display = ["name", "user", "created_at", "expires_at", "last_used_at"]
    list_select_related = ["user"]
    exclude = ["digest"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False
