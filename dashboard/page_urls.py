"""Addresses of the pages, and of the parts and figures that refresh by themselves."""

from django.contrib.auth.views import LogoutView
from django.templatetags.static import static
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST, require_safe
from django.views.generic import RedirectView

from dashboard.pages import (
    clusters,
    findings,
    group,
    group_dlq,
    group_offsets,
    groups,
    overview,
    rebalances,
    repeats,
    resend,
    reset,
    reset_plan,
    retries,
    selected,
)
from dashboard.pages.alerts import alert_preview, alert_rule, alerts, channels, silences
from dashboard.pages.common import figures
from dashboard.pages.ownership import client, group_ownership, topic
from dashboard.pages.site import account, patterns, search, sign_on, theme, zone
from dashboard.pages.site.login import limited, opened_or_sent
from dashboard.pages.site.login_page import LoginPage

# Addresses of the pages of alerts.

INCIDENT = "alerts/incidents/<uuid:incident>/"
CHANNEL = "alerts/channels/<int:channel>/"
NOTE = "alerts/notes/<int:note>/"

alert_patterns = [
    path("alerts/", alerts.alerts, name="alerts"),
    path("alerts/part/", alerts.alerts_part, name="alerts_part"),
    path(INCIDENT, alerts.incident, name="incident"),
    path(f"{INCIDENT}part/", alerts.incident_part, name="incident_part"),
    path(f"{INCIDENT}acknowledge/", alerts.incident_acknowledge, name="incident_acknowledge"),
    path("figures/incidents/<uuid:incident>/", alerts.incident_figure, name="incident_figure"),
    path("alerts/silences/", silences.silences, name="silences"),
    path("alerts/silences/<int:silence>/end/", silences.silence_end, name="silence_end"),
    path("alerts/channels/", channels.channels, name="channels"),
    path("alerts/channels/add/", channels.channel_add, name="channel_add"),
    path(CHANNEL, channels.channel, name="channel"),
    path(f"{CHANNEL}part/", channels.channel_part, name="channel_part"),
    path(f"{CHANNEL}test/", channels.channel_test, name="channel_test"),
    path(f"{CHANNEL}remove/", channels.channel_remove, name="channel_remove"),
    path("alerts/notes/", silences.alert_notes, name="alert_notes"),
    path("alerts/notes/add/", silences.alert_note_add, name="alert_note_add"),
    path(NOTE, silences.alert_note, name="alert_note"),
    path(f"{NOTE}remove/", silences.alert_note_remove, name="alert_note_remove"),
]


# Addresses of the pages of alert rules, and of what a rule would have done.

RULE = "alerts/rules/<int:rule>/"
PREVIEW = "alerts/previews/<uuid:preview>/"

alert_rule_patterns = [
    path("alerts/rules/", alert_rule.alert_rules, name="alert_rules"),
    path("alerts/rules/add/", alert_rule.alert_rule_add, name="alert_rule_add"),
    path(RULE, alert_rule.alert_rule, name="alert_rule"),
    path(f"{RULE}remove/", alert_rule.alert_rule_remove, name="alert_rule_remove"),
    path("alerts/previews/", alert_preview.alert_previews, name="alert_previews"),
    path(PREVIEW, alert_preview.alert_preview, name="alert_preview"),
    path(f"{PREVIEW}part/", alert_preview.alert_preview_part, name="alert_preview_part"),
    path(f"{PREVIEW}cancel/", alert_preview.alert_preview_cancel, name="alert_preview_cancel"),
]


# Addresses of the pages of offset resets.

GROUP = "groups/<str:cluster>/<str:group>/resets/"
RESET = "resets/<uuid:reset>/"

reset_patterns = [
    path("resets/", reset.resets, name="resets"),
    path(GROUP, reset.group_resets, name="group_resets"),
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


urlpatterns = [
    path("", overview.overview, name="overview"),
    path("groups/", groups.groups, name="groups"),
    path("group-filters/", groups.filter_save, name="group_filter_save"),
    path("group-filters/<int:filter>/remove/", groups.filter_remove, name="group_filter_remove"),
    path("selected/", selected.selected, name="selected"),
    path("selected/silence/", selected.selected_silence, name="selected_silence"),
    path("selected/plan/", selected.selected_plan, name="selected_plan"),
    path("groups/<str:cluster>/<str:group>/", group.group, name="group"),
    path("groups/<str:cluster>/<str:group>/ownership/", group_ownership.ownership, name="group_ownership"),
    path("groups/<str:cluster>/<str:group>/retries/", retries.group_retries, name="group_retries"),
    path("groups/<str:cluster>/<str:group>/history/", group.group_history, name="group_history"),
    path("groups/<str:cluster>/<str:group>/settings/", group_ownership.settings, name="group_settings"),
    path("groups/<str:cluster>/<str:group>/repeats/", repeats.group_repeats, name="group_repeats"),
    path("groups/<str:cluster>/<str:group>/messages/", repeats.message_attempts, name="message_attempts"),
    path("groups/<str:cluster>/<str:group>/offsets/", group_offsets.offsets, name="group_offsets"),
    path("groups/<str:cluster>/<str:group>/lost-offsets/", group_offsets.lost_offsets, name="lost_offsets"),
    path("groups/<str:cluster>/<str:group>/dlq/", group_dlq.dlq, name="group_dlq"),
    path("groups/<str:cluster>/<str:group>/dlq/read/", group_dlq.dlq_read, name="group_dlq_read"),
    path(
        "groups/<str:cluster>/<str:group>/dlq/<str:broker>/<int:queue_id>/<int:offset>/",
        group_dlq.dlq_message,
        name="dlq_message",
    ),
    path(
        "groups/<str:cluster>/<str:group>/queues/<str:topic>/<str:broker>/<int:queue_id>/<int:offset>/",
        group_dlq.dlq_message,
        name="queue_message",
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
    path("rebalances/<str:cluster>/<str:group>/<str:at>/", rebalances.rebalance, name="rebalance"),
    path("repeats/", repeats.repeats, name="repeats"),
    path("findings/", findings.findings, name="findings"),
    path("retries/", retries.retries, name="retries"),
    path("clusters/", clusters.clusters, name="clusters"),
    path("clusters/<str:cluster>/connection/", clusters.connection, name="connection"),
    path("clusters/<str:cluster>/connection/check/", clusters.connection_check, name="connection_check"),
    path("parts/clusters/<str:cluster>/connection/", clusters.connection_part, name="connection_part"),
    path("states/", account.states, name="states"),
    path("patterns/", patterns.patterns, name="patterns"),
    path("parts/overview/", overview.overview_part, name="overview_part"),
    path("parts/groups/", groups.groups_part, name="groups_part"),
    path("parts/groups/<str:cluster>/<str:group>/", group.group_part, name="group_part"),
    path(
        "parts/groups/<str:cluster>/<str:group>/ownership/",
        group_ownership.ownership_part,
        name="group_ownership_part",
    ),
    path("parts/groups/<str:cluster>/<str:group>/retries/", retries.group_retries_part, name="group_retries_part"),
    path("parts/groups/<str:cluster>/<str:group>/history/", group.group_history_part, name="group_history_part"),
    path("parts/groups/<str:cluster>/<str:group>/settings/", group_ownership.settings_part, name="group_settings_part"),
    path("parts/groups/<str:cluster>/<str:group>/repeats/", repeats.group_repeats_part, name="group_repeats_part"),
    path(
        "parts/groups/<str:cluster>/<str:group>/messages/<str:look>/",
        repeats.message_attempts_part,
        name="message_attempts_part",
    ),
    path("parts/groups/<str:cluster>/<str:group>/offsets/", group_offsets.offsets_part, name="group_offsets_part"),
    path("parts/groups/<str:cluster>/<str:group>/dlq/", group_dlq.dlq_part, name="group_dlq_part"),
    path(
        "parts/groups/<str:cluster>/<str:group>/dlq/<str:broker>/<int:queue_id>/<int:offset>/<str:look>/",
        group_dlq.dlq_message_part,
        name="dlq_message_part",
    ),
    path(
        "parts/groups/<str:cluster>/<str:group>/queues/<str:topic>/<str:broker>/<int:queue_id>/<int:offset>/<str:look>/",
        group_dlq.dlq_message_part,
        name="queue_message_part",
    ),
    path("parts/rebalances/", rebalances.rebalances_part, name="rebalances_part"),
    path("parts/rebalances/<str:cluster>/<str:group>/<str:at>/", rebalances.rebalance_part, name="rebalance_part"),
    path("parts/repeats/", repeats.repeats_part, name="repeats_part"),
    path("parts/findings/", findings.findings_part, name="findings_part"),
    path("parts/retries/", retries.retries_part, name="retries_part"),
    path("parts/clusters/", clusters.clusters_part, name="clusters_part"),
    path("topics/<str:cluster>/<str:topic>/", topic.topic, name="topic"),
    path("parts/topics/<str:cluster>/<str:topic>/", topic.topic_part, name="topic_part"),
    path("figures/topics/<str:cluster>/<str:topic>/lag/", topic.topic_lag, name="topic_lag_figure"),
    path("figures/topics/<str:cluster>/<str:topic>/time-lag/", topic.topic_time_lag, name="topic_time_lag_figure"),
    path("figures/topics/<str:cluster>/<str:topic>/rates/", topic.topic_rates, name="topic_rates_figure"),
    path("clients/<str:cluster>/<path:client>/", client.client, name="client"),
    path("threads/<str:cluster>/<path:client>/", client.thread_dump, name="thread_dump"),
    path("parts/clients/<str:cluster>/<path:client>/", client.client_part, name="client_part"),
    path("parts/threads/<str:cluster>/<path:client>/", client.thread_dump_part, name="thread_dump_part"),
    path("search/", search.search_page, name="search"),
    path("search/suggestions/", search.suggestions, name="search_suggestions"),
    path("figures/selected/", selected.selected_lag, name="selected_figure"),
    path("figures/top-lag/", overview.top_lag, name="top_lag_figure"),
    path("figures/fleet-lag/", overview.fleet_lag, name="fleet_lag_figure"),
    path("figures/fleet-rates/", overview.fleet_rates, name="fleet_rates_figure"),
    path("figures/<str:cluster>/<str:group>/lag/", figures.lag, name="lag_figure"),
    path("figures/<str:cluster>/<str:group>/rates/", figures.rates, name="rates_figure"),
    path("figures/<str:cluster>/<str:group>/time-lag/", figures.time_lag, name="time_lag_figure"),
    path("figures/<str:cluster>/<str:group>/queues/", figures.queues, name="queues_figure"),
    path(
        "figures/<str:cluster>/<str:group>/rebalances/<str:at>/", rebalances.rebalance_figure, name="rebalance_figure"
    ),
    path("figures/<str:cluster>/<str:group>/ownership/", group_ownership.ownership_figure_of, name="ownership_figure"),
    path(
        "figures/<str:cluster>/<str:group>/member-rates/",
        group_ownership.member_rates_figure,
        name="member_rates_figure",
    ),
    path("figures/<str:cluster>/<str:group>/volumes/", retries.volumes, name="volumes_figure"),
    path("figures/<str:cluster>/<str:group>/ladder/", retries.ladder, name="ladder_figure"),
    path("figures/<str:cluster>/<str:group>/dead-letters/", retries.dead_letters, name="dead_letters_figure"),
    path("login/", opened_or_sent(limited(LoginPage.as_view())), name="login"),
    path("sign-on/", require_GET(never_cache(sign_on.BeginView.as_view())), name="sign_on"),
    path("sign-on/callback/", require_GET(never_cache(sign_on.CallbackView.as_view())), name="sign_on_callback"),
    path("logout/", require_POST(LogoutView.as_view()), name="logout"),
    path("favicon.ico", require_safe(RedirectView.as_view(url=static("icons/consumerscope.svg"))), name="favicon"),
    path("account/tokens/", account.tokens, name="tokens"),
    path("account/tokens/<int:token>/revoke/", account.token_revoke, name="token_revoke"),
    path("account/password/", opened_or_sent(account.PasswordPage.as_view()), name="password"),
    path("account/password/changed/", account.password_changed, name="password_changed"),
    path("theme/", theme.theme, name="theme"),
    path("times/", zone.times, name="times"),
    path("language/", account.language, name="language"),
    *reset_patterns,
    *alert_patterns,
    *alert_rule_patterns,
]
