"""Restricts admin pages to GET, HEAD and POST: Django's own treat any other method as a GET."""

from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext, gettext_lazy as _, gettext_noop
from django.views.i18n import JavaScriptCatalog

from dashboard.pages.site.login import has_sign_on, limited, opened_or_sent, takes_passwords

View = Callable[..., HttpResponseBase]


# What people come to administer. All other models are rows that the site writes, and stand apart.
ADMINISTERED = frozenset(
    {"Cluster", "GroupThresholds", "ConsumerGroup", "Reset", "Resend", "ApiToken", "AuditEvent", "SignOnAccount"}
)


# Captions of Django's scripts that its Chinese catalogue does not have.
CAPTIONS = (
    gettext_noop("Choose all %s"),
    gettext_noop("Choose selected %s"),
    gettext_noop('Choose %s by selecting them and then select the "Choose" arrow button.'),
    gettext_noop("Remove all %s"),
    gettext_noop("Remove selected %s"),
    gettext_noop('Remove %s by selecting them and then select the "Remove" arrow button.'),
    gettext_noop("(click to clear)"),
)


class ScriptCaptions(JavaScriptCatalog):
    def get_catalog(self) -> dict[str, Any]:
        return {caption: gettext(caption) for caption in CAPTIONS} | super().get_catalog()


class AdminPages(AdminSite):
    site_header = "Consumerscope"
    site_title = "Consumerscope"
    index_title = _("Administration")
    empty_value_display = _("no value")  # type: ignore[assignment]

    def admin_view(self, view: View, cacheable: bool = False) -> Any:
        guarded: View = super().admin_view(view, cacheable)
        return opened_or_sent(guarded)

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        """Returns models in the order in which they are registered. The list of all models has three parts: what is
        administered, users, and the rows that the site writes."""
        places = {model: place for place, model in enumerate(self._registry)}
        # Django's own list sorts them by their names, each of which it translates anew for every comparison.
        apps = sorted(self._build_app_dict(request, app_label).values(), key=lambda app: str(app["name"]).lower())
        for app in apps:
            app["models"].sort(key=lambda entry: places[entry["model"]])
        return apps if app_label else list(_apart(apps))

    def i18n_javascript(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return ScriptCaptions.as_view(packages=["django.contrib.admin"])(request)  # type: ignore[return-value]

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


def _apart(apps: list[Any]) -> Iterator[Any]:
    own = [app for app in apps if app["app_label"] == "consumers"]
    for app in own:
        models = [entry for entry in app["models"] if entry["object_name"] in ADMINISTERED]
        if models:
            yield app | {"models": models}
    yield from (app for app in apps if app not in own)
    for app in own:
        models = [entry for entry in app["models"] if entry["object_name"] not in ADMINISTERED]
        if models:
            yield app | {"name": _("Stored rows, read-only"), "models": models}


class AdminPagesConfig(AdminConfig):
    default_site = "dashboard.admin_pages.AdminPages"
