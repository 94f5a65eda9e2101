from django.urls import path, re_path

from .alerts.rest.incidents import (
    AcknowledgeView,
    AlertListView,
    AlertPreviewListView,
    AlertPreviewView,
    AlertView,
    CancelAlertPreviewView,
)
from .alerts.rest.settings import (
    AlertRuleListView,
    AlertRuleView,
    ChannelDeliveryListView,
    ChannelListView,
    ChannelTestView,
    ChannelView,
    GroupNoteListView,
    GroupNoteView,
    PrometheusRulesView,
    SilenceListView,
    SilenceView,
)
from .clients.rest import ClientThreadsView, ClientView
from .clusters.rest import ClusterListView
from .dead_letters.rest import (
    CancelResendView,
    DeadLetterExportView,
    DeadLetterListView,
    ResendListView,
    ResendMessageListView,
    ResendView,
    StartResendView,
)
from .findings.rest import FindingListView, GroupFindingListView
from .groups.rest import GroupListView, GroupView, HistoryView, QueueListView, StatusView
from .groups.saved import SavedFilterListView, SavedFilterView
from .logs.rest import LogEventListView
from .messages.rest import MessageAttemptsView
from .offsets.rest import AcknowledgeLossView, OffsetListView
from .ownership.rest import AssignmentListView, MemberListView, MemberRatesView, SubscriptionView
from .rebalances.rest import GroupRebalanceListView, RebalanceListView
from .repeats import GroupRepeatListView, RepeatListView
from .resets.rest import (
    AuditExportView,
    OffsetExportView,
    ResetExportView,
    ResetListView,
    ResetQueueListView,
    ResetView,
)
from .resets.rest_acts import ApplyResetView, CancelResetView, RestoreResetView, ResumeResetView
from .rest import schema
from .rest.problems import AbsentView
from .retries.rest import RetriesView
from .topics.rest import TopicView

GROUP = "v1/groups/<str:cluster>/<str:group>/"
INCIDENT = "v1/alerts/<uuid:incident>/"
CHANNEL = "v1/channels/<int:channel>/"
RESEND = "v1/resends/<uuid:resend>/"
RESET = "v1/resets/<uuid:reset>/"

urlpatterns = [
    path("v1/clusters/", ClusterListView.as_view(), name="api-clusters"),
    path("v1/group-filters/", SavedFilterListView.as_view(), name="api-group-filters"),
    path("v1/group-filters/<int:filter>/", SavedFilterView.as_view(), name="api-group-filter"),
    path("v1/groups/", GroupListView.as_view(), name="api-groups"),
    path(GROUP, GroupView.as_view(), name="api-group"),
    path(f"{GROUP}queues/", QueueListView.as_view(), name="api-group-queues"),
    path(f"{GROUP}lost-offsets/acknowledge/", AcknowledgeLossView.as_view(), name="api-acknowledge-loss"),
    path(f"{GROUP}members/", MemberListView.as_view(), name="api-group-members"),
    path(f"{GROUP}members/rates/", MemberRatesView.as_view(), name="api-group-member-rates"),
    path(f"{GROUP}assignments/", AssignmentListView.as_view(), name="api-group-assignments"),
    path(f"{GROUP}subscriptions/", SubscriptionView.as_view(), name="api-group-subscriptions"),
    path(f"{GROUP}offsets/", OffsetListView.as_view(), name="api-group-offsets"),
    path(f"{GROUP}offsets/export/", OffsetExportView.as_view(), name="api-group-offsets-export"),
    path(f"{GROUP}history/", HistoryView.as_view(), name="api-group-history"),
    path(f"{GROUP}status/", StatusView.as_view(), name="api-group-status"),
    path(f"{GROUP}dlq/", DeadLetterListView.as_view(), name="api-group-dead-letters"),
    path(f"{GROUP}dlq/export/", DeadLetterExportView.as_view(), name="api-group-dead-letters-export"),
    path(f"{GROUP}retries/", RetriesView.as_view(), name="api-group-retries"),
    path(f"{GROUP}findings/", GroupFindingListView.as_view(), name="api-group-findings"),
    path(f"{GROUP}rebalances/", GroupRebalanceListView.as_view(), name="api-group-rebalances"),
    path(f"{GROUP}repeats/", GroupRepeatListView.as_view(), name="api-group-repeats"),
    path(f"{GROUP}messages/<path:message>/attempts/", MessageAttemptsView.as_view(), name="api-message-attempts"),
    path(f"{GROUP}log-events/", LogEventListView.as_view(), name="api-group-log-events"),
    path(f"{GROUP}resends/", ResendListView.as_view(), name="api-group-resends"),
    path(RESEND, ResendView.as_view(), name="api-resend"),
    path(f"{RESEND}messages/", ResendMessageListView.as_view(), name="api-resend-messages"),
    path(f"{RESEND}start/", StartResendView.as_view(), name="api-resend-start"),
    path(f"{RESEND}cancel/", CancelResendView.as_view(), name="api-resend-cancel"),
    path("v1/resets/", ResetListView.as_view(), name="api-resets"),
    path("v1/resets/export/", AuditExportView.as_view(), name="api-resets-export"),
    path(RESET, ResetView.as_view(), name="api-reset"),
    path(f"{RESET}queues/", ResetQueueListView.as_view(), name="api-reset-queues"),
    path(f"{RESET}export/", ResetExportView.as_view(), name="api-reset-export"),
    path(f"{RESET}apply/", ApplyResetView.as_view(), name="api-reset-apply"),
    path(f"{RESET}resume/", ResumeResetView.as_view(), name="api-reset-resume"),
    path(f"{RESET}restore/", RestoreResetView.as_view(), name="api-reset-restore"),
    path(f"{RESET}cancel/", CancelResetView.as_view(), name="api-reset-cancel"),
    path("v1/topics/<str:cluster>/<str:topic>/", TopicView.as_view(), name="api-topic"),
    path("v1/clients/<str:cluster>/<path:client>/threads/", ClientThreadsView.as_view(), name="api-client-threads"),
    path("v1/clients/<str:cluster>/<path:client>/", ClientView.as_view(), name="api-client"),
    path("v1/findings/", FindingListView.as_view(), name="api-findings"),
    path("v1/rebalances/", RebalanceListView.as_view(), name="api-rebalances"),
    path("v1/repeats/", RepeatListView.as_view(), name="api-repeats"),
    path("v1/alerts/", AlertListView.as_view(), name="api-alerts"),
    path(INCIDENT, AlertView.as_view(), name="api-alert"),
    path(f"{INCIDENT}acknowledge/", AcknowledgeView.as_view(), name="api-alert-acknowledge"),
    path("v1/alert-rules/", AlertRuleListView.as_view(), name="api-alert-rules"),
    path("v1/prometheus-rules/", PrometheusRulesView.as_view(), name="api-prometheus-rules"),
    path("v1/alert-rules/<int:rule>/", AlertRuleView.as_view(), name="api-alert-rule"),
    path("v1/alert-previews/", AlertPreviewListView.as_view(), name="api-alert-previews"),
    path("v1/alert-previews/<uuid:preview>/", AlertPreviewView.as_view(), name="api-alert-preview"),
    path("v1/alert-previews/<uuid:preview>/cancel/", CancelAlertPreviewView.as_view(), name="api-alert-preview-cancel"),
    path("v1/silences/", SilenceListView.as_view(), name="api-silences"),
    path("v1/silences/<int:silence>/", SilenceView.as_view(), name="api-silence"),
    path("v1/channels/", ChannelListView.as_view(), name="api-channels"),
    path(CHANNEL, ChannelView.as_view(), name="api-channel"),
    path(f"{CHANNEL}deliveries/", ChannelDeliveryListView.as_view(), name="api-channel-deliveries"),
    path(f"{CHANNEL}test/", ChannelTestView.as_view(), name="api-channel-test"),
    path("v1/group-notes/", GroupNoteListView.as_view(), name="api-group-notes"),
    path("v1/group-notes/<int:note>/", GroupNoteView.as_view(), name="api-group-note"),
    path("schema/", schema.schema, name="schema"),
    path("docs/", schema.page, name="docs"),
    # Only paths that end as all of ours do: without the slash a path is first sent on to the one with it.
    re_path(r"^.*/$", AbsentView.as_view()),
]
