"""The admin pages: read and posted to, and nothing else. Django's own answer any method as if it were a GET."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods

View = Callable[..., HttpResponseBase]


class AdminPages(AdminSite):
    def admin_view(self, view: View, cacheable: bool = False) -> Any:
        guarded: View = super().admin_view(view, cacheable)
        return require_http_methods(["GET", "HEAD", "POST"])(guarded)


class AdminPagesConfig(AdminConfig):
    default_site = "dashboard.admin_pages.AdminPages"
