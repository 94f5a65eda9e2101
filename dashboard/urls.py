from django.contrib import admin
from django.urls import include, path

handler400 = "dashboard.pages.site.problems.bad_request"
handler404 = "dashboard.pages.site.problems.not_found"
handler500 = "dashboard.pages.site.problems.server_error"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include("consumers.urls")),
    path("", include("dashboard.health.urls")),
    path("", include("dashboard.metrics.urls")),
    path("", include("dashboard.pages.urls")),
]
