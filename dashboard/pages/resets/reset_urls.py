"""Addresses of the pages of offset resets."""

from django.urls import path

from . import reset, reset_plan, resets

GROUP = "groups/<str:cluster>/<str:group>/resets/"
RESET = "resets/<uuid:reset>/"

urlpatterns = [
    path("resets/", resets.resets, name="resets"),
    path(GROUP, resets.group_resets, name="group_resets"),
    path(f"{GROUP}plan/", reset_plan.reset_plan, name="reset_plan"),
    path(RESET, reset.reset, name="reset"),
    path(f"{RESET}part/", reset.reset_part, name="reset_part"),
    path(f"{RESET}apply/", reset.reset_apply, name="reset_apply"),
    path(f"{RESET}resume/", reset.reset_resume, name="reset_resume"),
    path(f"{RESET}restore/", reset.reset_restore, name="reset_restore"),
    path(f"{RESET}cancel/", reset.reset_cancel, name="reset_cancel"),
    path(f"{RESET}export/", reset.reset_export, name="reset_export"),
    path(
        "groups/<str:cluster>/<str:group>/offsets/export/",
        reset.group_offsets_export,
        name="group_offsets_export",
    ),
]
