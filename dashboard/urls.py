from django.contrib import admin
from django.urls import include, path

from dashboard.health import live, ready

from .metrics.views import MetricsView

handler400 = "dashboard.pages.site.refusals.bad_request"
handler403 = "dashboard.pages.site.refusals.not_allowed"
handler404 = "dashboard.pages.site.refusals.not_found"
handler500 = "dashboard.pages.site.problems.server_error"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include("consumers.urls")),
    path("healthz", live, name="healthz"),
    path("readyz", ready, name="readyz"),
    path("metrics", MetricsView.as_view(), name="metrics"),
    path("", include("dashboard.page_urls")),
]
