"""Clusters may be added and pointed elsewhere by whoever manages them. `manage.py cluster remove` removes one."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone

from consumers.models import Broker, Cluster
from consumers.rocketmq.errors import LocalProtocolError
from consumers.rocketmq.names import parse_address

from .read_only import ReadOnlyAdmin


class ClusterForm(forms.ModelForm):
    class Meta:
        model = Cluster
        fields = ["name", "namesrv"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if "/" in name:
            raise forms.ValidationError("A cluster's name has no '/'.")
        return name

    def clean_namesrv(self) -> str:
        addresses = [address.strip() for address in self.cleaned_data["namesrv"].split(";") if address.strip()]
        if not addresses:
            raise forms.ValidationError("At least one HOST:PORT is needed.")
        for address in addresses:
            try:
                parse_address(address)
            except LocalProtocolError as error:
                raise forms.ValidationError(str(error)) from None
        return ";".join(addresses)


@admin.register(Cluster)
class ClusterAdmin(admin.ModelAdmin):
    form = ClusterForm
    list_display = ["name", "namesrv", "created_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("consumers.manage_clusters")

    def has_change_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        return request.user.has_perm("consumers.manage_clusters")

    def has_delete_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Cluster | None = None) -> list[str]:
        """History in the lake lies under the cluster's name: it does not change."""
        return ["name"] if obj is not None else []

    def save_model(self, request: HttpRequest, obj: Cluster, form: Any, change: bool) -> None:
        if not change:
            obj.created_at = timezone.now()
        super().save_model(request, obj, form, change)


@admin.register(Broker)
class BrokerAdmin(ReadOnlyAdmin):
    list_display = ["name", "broker_id", "cluster", "address", "version", "reachable", "last_read_at", "error"]
    list_filter = ["cluster", "reachable"]
    list_select_related = ["cluster"]
