"""Clusters may be added and pointed elsewhere by whoever manages them. `manage.py cluster remove` removes one."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from consumers.models import Broker, Cluster
from consumers.polling.registration.cluster_options import described

from .audit import Audited
from .cluster_form import ClusterForm
from .read_only import ReadOnlyAdmin


@admin.register(Cluster)
class ClusterAdmin(Audited):
    form = ClusterForm
    fieldsets = [
        (None, {"fields": ["name", "namesrv"]}),
        ("Access control", {"fields": ["access_key", "secret_key"]}),
        ("TLS", {"fields": ["use_tls", "tls_ca", "tls_any_host", "tls_certificate", "tls_key", "tls_skip_verify"]}),
        ("More to ask", {"fields": ["proxy", "offset_files"]}),
    ]
    list_display = ["name", "namesrv", "options", "created_at"]

    @admin.display(empty_value="none")
    def options(self, cluster: Cluster) -> str:
        return ", ".join(described(cluster))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consumers.manage_clusters")

    def has_change_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        return request.user.has_perm("consumers.manage_clusters")

    def has_delete_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        return False

    def get_fieldsets(self, request: HttpRequest, obj: Cluster | None = None) -> Any:
        """Who may only look is shown what is registered: the form's own fields are no part of a cluster."""
        if self.has_change_permission(request, obj):
            return super().get_fieldsets(request, obj)
        return [(None, {"fields": self.list_display})]

    def get_readonly_fields(self, request: HttpRequest, obj: Cluster | None = None) -> list[str]:
        """History in the lake lies under the cluster's name: it does not change."""
        return ["name"] if obj is not None else []

    def save_model(self, request: HttpRequest, obj: Cluster, form: Any, change: bool) -> None:
        if not change:
            obj.created_at = timezone.now()
        super().save_model(request, obj, form, change)


@admin.register(Broker)
class BrokerAdmin(ReadOnlyAdmin):
    list_display = [
        "name",
        "broker_id",
        "cluster",
        "address",
        "version",
        "reachable",
        "last_read_at",
        "read_from",
        "error",
    ]
    list_filter = ["cluster", "reachable"]
    list_select_related = ["cluster"]
