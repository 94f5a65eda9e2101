"""What the admin pages call each model, one and many.

Not in the models: a name is words for people, which are made where they are shown.
"""

from django.contrib.auth.models import Group
from django.utils.translation import gettext_lazy as _

from consumers import models

NAMES = {
    models.ApiToken: (_("API token"), _("API tokens")),
    models.AuditEvent: (_("audit log entry"), _("audit log")),
    models.Cluster: (_("cluster"), _("clusters")),
    models.GroupThresholds: (_("thresholds of a group"), _("thresholds of groups")),
    models.ConsumerGroup: (_("consumer group"), _("consumer groups")),
    models.GroupHealth: (_("health of a group"), _("health of groups")),
    models.GroupState: (_("group state"), _("group states")),
    models.GroupTotal: (_("totals of a group"), _("totals of groups")),
    models.GroupWindow: (_("history window of a group"), _("history windows of groups")),
    models.StateChange: (_("state change"), _("state changes")),
    models.QueueState: (_("queue state"), _("queue states")),
    models.QueueSnapshot: (_("latest offsets of a queue"), _("latest offsets of queues")),
    models.QueueSample: (_("sample of a queue"), _("samples of queues")),
    models.BrokerStatistic: (_("broker statistic"), _("broker statistics")),
    models.TagSample: (_("tag sample"), _("tag samples")),
    models.Client: (_("member"), _("members")),
    models.MembershipGap: (_("time without reports of members"), _("times without reports of members")),
    models.Assignment: (_("queue assignment"), _("queue assignments")),
    models.ClientSubscription: (_("subscription"), _("subscriptions")),
    models.Rebalance: (_("rebalance"), _("rebalances")),
    models.RebalanceTopic: (_("topic of a rebalance"), _("topics of rebalances")),
    models.RepeatEvent: (_("repeat event"), _("repeat events")),
    models.StoredFinding: (_("finding"), _("findings")),
    models.GroupBroker: (_("group settings on a broker"), _("group settings on brokers")),
    models.DelayLevel: (_("delay level"), _("delay levels")),
    models.Rung: (_("retry backlog by delay level"), _("retry backlogs by delay level")),
    models.HeadMessage: (_("stuck message"), _("stuck messages")),
    models.DeadLetter: (_("dead-letter message"), _("dead-letter messages")),
    models.DeadLetterLook: (_("dead-letter inspection"), _("dead-letter inspections")),
    models.Resend: (_("resend"), _("resends")),
    models.ResendItem: (_("message of a resend"), _("messages of resends")),
    models.Reset: (_("offset reset"), _("offset resets")),
    models.ResetQueue: (_("queue of an offset reset"), _("queues of offset resets")),
    models.ResetEvent: (_("event of an offset reset"), _("events of offset resets")),
    models.LossAcknowledgement: (_("acknowledged loss"), _("acknowledged losses")),
    models.Incident: (_("incident"), _("incidents")),
    models.IncidentEvent: (_("event of an incident"), _("events of incidents")),
    models.AlertRule: (_("alert rule"), _("alert rules")),
    models.Silence: (_("silence"), _("silences")),
    models.GroupNote: (_("group note"), _("group notes")),
    models.Channel: (_("notification channel"), _("notification channels")),
    models.Delivery: (_("notification"), _("notifications")),
    models.DeliveryEvent: (_("event in a notification"), _("events in notifications")),
    models.DeliveryAttempt: (_("delivery attempt"), _("delivery attempts")),
    models.RulePreview: (_("rule preview"), _("rule previews")),
    models.SavedFilter: (_("saved filter"), _("saved filters")),
    models.AlertEngine: (_("evaluation of alert rules"), _("evaluations of alert rules")),
    models.EvaluationGap: (_("time without evaluations"), _("times without evaluations")),
    models.Broker: (_("broker"), _("brokers")),
    models.Topic: (_("topic"), _("topics")),
    models.Queue: (_("queue"), _("queues")),
    models.OffsetFile: (_("offset file"), _("offset files")),
    models.LogFile: (_("log file"), _("log files")),
    models.LogEvent: (_("log event"), _("log events")),
    models.Reading: (_("poll result"), _("poll results")),
    models.PipelineRun: (_("pipeline run"), _("pipeline runs")),
    models.DueWindow: (_("pending history window"), _("pending history windows")),
    models.HistorySize: (_("size of the history store"), _("sizes of the history store")),
    models.Lease: (_("lease"), _("leases")),
    models.MachineClock: (_("clock of a machine"), _("clocks of machines")),
    models.ClockChange: (_("clock change"), _("clock changes")),
    models.ClusterRole: (_("role for a cluster"), _("roles for clusters")),
    # Those of users: beside consumer groups their own name is a riddle.
    Group: (_("user group"), _("user groups")),
    models.SignOnAccount: (_("sign-on account"), _("sign-on accounts")),
}

# Migrations compare what a model declares, and so see nothing of this.
for model, (one, many) in NAMES.items():
    model._meta.verbose_name, model._meta.verbose_name_plural = one, many
