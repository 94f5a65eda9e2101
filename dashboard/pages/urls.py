"""Addresses of the pages, and of the parts and figures that refresh by themselves."""

from django.contrib.auth.views import LoginView, LogoutView
from django.templatetags.static import static
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.generic import RedirectView

from dashboard.pages.site.login import limited

from . import clusters, overview
from .alerts import alert_rule_urls, alert_urls
from .common import figures
from .dead_letters import group_dlq, resend
from .groups import group, groups
from .offsets import group_offsets, lost_offsets
from .ownership import group_ownership
from .rebalances import rebalance, rebalances
from .resets import reset_urls
from .retries import group_retries, retries
from .site import patterns, preferences, theme

opened_or_sent = require_http_methods(["GET", "HEAD", "POST"])

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("groups/", groups.groups, name="groups"),
    path("groups/<str:cluster>/<str:group>/", group.group, name="group"),
    path("groups/<str:cluster>/<str:group>/ownership/", group_ownership.ownership, name="group_ownership"),
    path("groups/<str:cluster>/<str:group>/retries/", group_retries.retries, name="group_retries"),
    path("groups/<str:cluster>/<str:group>/offsets/", group_offsets.offsets, name="group_offsets"),
    path("groups/<str:cluster>/<str:group>/lost-offsets/", lost_offsets.lost_offsets, name="lost_offsets"),
    path("groups/<str:cluster>/<str:group>/dlq/", group_dlq.dlq, name="group_dlq"),
    path("groups/<str:cluster>/<str:group>/dlq/read/", group_dlq.dlq_read, name="group_dlq_read"),
    path(
        "groups/<str:cluster>/<str:group>/dlq/<str:broker>/<int:queue_id>/<int:offset>/",
        group_dlq.dlq_message,
        name="dlq_message",
    ),
    path("groups/<str:cluster>/<str:group>/dlq/export/", group_dlq.dlq_export, name="dlq_export"),
    path("groups/<str:cluster>/<str:group>/resends/", resend.resends, name="resends"),
    path("groups/<str:cluster>/<str:group>/resends/plan/", resend.resend_plan, name="resend_plan"),
    path("groups/<str:cluster>/<str:group>/resends/<uuid:resend>/", resend.resend, name="resend"),
    path("groups/<str:cluster>/<str:group>/resends/<uuid:resend>/start/", resend.resend_start, name="resend_start"),
    path(
        "groups/<str:cluster>/<str:group>/resends/<uuid:resend>/cancel/",
        resend.resend_cancel,
        name="resend_cancel",
    ),
    path("parts/groups/<str:cluster>/<str:group>/resends/<uuid:resend>/", resend.resend_part, name="resend_part"),
    path("rebalances/", rebalances.rebalances, name="rebalances"),
    path("rebalances/<str:cluster>/<str:group>/<str:at>/", rebalance.rebalance, name="rebalance"),
    path("retries/", retries.retries, name="retries"),
    path("clusters/", clusters.clusters, name="clusters"),
    path("states/", preferences.states, name="states"),
    path("patterns/", patterns.patterns, name="patterns"),
    path("parts/overview/", overview.overview_part, name="overview_part"),
    path("parts/groups/", groups.groups_part, name="groups_part"),
    path("parts/groups/<str:cluster>/<str:group>/", group.group_part, name="group_part"),
    path(
        "parts/groups/<str:cluster>/<str:group>/ownership/",
        group_ownership.ownership_part,
        name="group_ownership_part",
    ),
    path("parts/groups/<str:cluster>/<str:group>/retries/", group_retries.retries_part, name="group_retries_part"),
    path("parts/groups/<str:cluster>/<str:group>/offsets/", group_offsets.offsets_part, name="group_offsets_part"),
    path("parts/groups/<str:cluster>/<str:group>/dlq/", group_dlq.dlq_part, name="group_dlq_part"),
    path(
        "parts/groups/<str:cluster>/<str:group>/dlq/<str:broker>/<int:queue_id>/<int:offset>/<str:look>/",
        group_dlq.dlq_message_part,
        name="dlq_message_part",
    ),
    path("parts/rebalances/", rebalances.rebalances_part, name="rebalances_part"),
    path("parts/rebalances/<str:cluster>/<str:group>/<str:at>/", rebalance.rebalance_part, name="rebalance_part"),
    path("parts/retries/", retries.retries_part, name="retries_part"),
    path("parts/clusters/", clusters.clusters_part, name="clusters_part"),
    path("figures/<str:cluster>/<str:group>/lag/", figures.lag, name="lag_figure"),
    path("figures/<str:cluster>/<str:group>/queues/", figures.queues, name="queues_figure"),
    path("figures/<str:cluster>/<str:group>/rebalances/<str:at>/", rebalance.rebalance_figure, name="rebalance_figure"),
    path("figures/<str:cluster>/<str:group>/ownership/", group_ownership.ownership_figure_of, name="ownership_figure"),
    path("figures/<str:cluster>/<str:group>/volumes/", group_retries.volumes, name="volumes_figure"),
    path("figures/<str:cluster>/<str:group>/ladder/", group_retries.ladder, name="ladder_figure"),
    path("figures/<str:cluster>/<str:group>/dead-letters/", group_retries.dead_letters, name="dead_letters_figure"),
    path("login/", opened_or_sent(limited(LoginView.as_view(redirect_authenticated_user=True))), name="login"),
    path("logout/", require_POST(LogoutView.as_view()), name="logout"),
    path("favicon.ico", require_safe(RedirectView.as_view(url=static("icons/consumerscope.svg"))), name="favicon"),
    path("theme/", theme.theme, name="theme"),
    path("language/", preferences.language, name="language"),
    *reset_urls.urlpatterns,
    *alert_urls.urlpatterns,
    *alert_rule_urls.urlpatterns,
]
