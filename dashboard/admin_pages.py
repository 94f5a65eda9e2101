"""Restricts admin pages to GET, HEAD and POST: Django's own treat any other method as a GET."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_http_methods

from dashboard.pages.site.login import has_sign_on, limited, takes_passwords

View = Callable[..., HttpResponseBase]


opened_or_sent = require_http_methods(["GET", "HEAD", "POST"])


class AdminPages(AdminSite):
    def admin_view(self, view: View, cacheable: bool = False) -> Any:
        guarded: View = super().admin_view(view, cacheable)
        return opened_or_sent(guarded)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Models in the order in which they are registered, which is that of what people look for."""
        places = {model: place for place, model in enumerate(self._registry)}
        apps: list[Any] = super().get_app_list(request, app_label)
        for app in apps:
            app["models"].sort(key=lambda entry: places[entry["model"]])
        return apps

    @method_decorator(opened_or_sent)
    @method_decorator(limited)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Django gives it no `admin_view`: it is for who is not in yet. With a sign-on all log in at one page."""
        if has_sign_on() and not request.user.is_authenticated:
            page = request.GET.get("next", reverse("admin:index"))
            return HttpResponseRedirect(f"{reverse('login')}?{urlencode({'next': page})}")
        if not takes_passwords() and not self.has_permission(request):
            raise PermissionDenied
        return super().login(request, extra_context)


class AdminPagesConfig(AdminConfig):
    default_site = "dashboard.admin_pages.AdminPages"
