"""Admin page of API tokens: shown without their digest; deleting one revokes it. `manage.py token create`
makes them.
"""

from django.contrib import admin
from django.http import HttpRequest

from consumers.models import ApiToken

from .audit import Audited


@admin.register(ApiToken)
class ApiTokenAdmin(Audited):
    list_display = ["name", "user", "created_at", "expires_at", "last_used_at"]
    list_select_related = ["user"]
    exclude = ["digest"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False
