"""Read-only admin pages of all that workers write, in the order in which people look. One line declares a page."""

from collections.abc import Iterator
from copy import copy
from itertools import islice
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import display_for_value
from django.db.models import Field, Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from consumers import models

from .worded import CODES, NULL, column, is_number, is_worded, of


class ReadOnlyAdmin(admin.ModelAdmin):
    # Counting a table of a million rows takes longer than showing one page of it.
    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Without the help of the columns, which is for those who write them."""
        names = [field.name for field in (*self.model._meta.fields, *self.model._meta.many_to_many)]
        return super().get_form(request, obj, change, help_texts=dict.fromkeys(names, ""), **kwargs)

    def render_change_form(self, request: HttpRequest, context: Any, *arguments: Any, **options: Any) -> Any:
        context["subtitle"] = " · ".join(islice(self._parts_of_title(context["original"]), 2))
        return super().render_change_form(request, context, *arguments, **options)

    def _parts_of_title(self, row: Any) -> Iterator[str]:
        """What its list says first, but for numbers, truths and what is not known."""
        for shown in self.list_display:
            value = shown(row) if callable(shown) else getattr(row, shown, None)
            if value not in (None, "", NULL) and not isinstance(value, int | float) and not is_number(shown):
                yield display_for_value(value, str(NULL))

    @admin.display(description=_("Page"))
    def page(self, reset: models.Reset) -> SafeString:
        return format_html('<a href="{}">{}</a>', reverse("reset", args=[reset.pk]), _("plan and outcome"))


class CodeFilter(admin.ChoicesFieldListFilter):
    """By codes, in words."""

    def __init__(self, field: Field, *arguments: Any, **paths: Any) -> None:
        worded_field = copy(field)
        worded_field.choices = list(of(CODES, field).items())
        super().__init__(worded_field, *arguments, **paths)


def show(
    model: type[Model], columns: str, filters: str = "", search: str = "", related: str = "", **options: Any
) -> None:
    """`related`: what is read with each row beside the rows that its columns refer to."""
    fields = {field.name: field for field in (*model._meta.fields, *model._meta.many_to_many)}
    shown = {name: column(field) if is_worded(field) else name for name, field in fields.items()}
    references = [name for name in columns.split() if name in fields and fields[name].is_relation]
    left_out = options.get("exclude", ())
    lines = [
        shown[name]
        for name, field in fields.items()
        if field.editable and not field.auto_created and name not in left_out
    ]
    admin.site.register(
        model,
        ReadOnlyAdmin,
        list_display=[shown.get(name, name) for name in columns.split()],
        list_filter=[(name, CodeFilter) if of(CODES, fields[name]) else name for name in filters.split()],
        search_fields=search.split(),
        list_select_related=[
            *references,
            *("queue__topic" for name in references if name == "queue"),
            *related.split(),
        ],
        fields=lines,
        readonly_fields=lines,
        **options,
    )


# Who did what
show(
    models.AuditEvent,
    "at by_name action subject_kind subject sentence",
    "action subject_kind",
    "by_name subject sentence",
    date_hierarchy="at",
)

# Groups, their states and their queues
show(
    models.ConsumerGroup,
    "name cluster kind online members message_model consume_type membership_at",
    "cluster kind online",
    "name",
    view_on_site=lambda page, group: reverse("group", args=[group.cluster.name, group.name]),
)
show(models.GroupHealth, "group level noted_at checked_at", "level", "group__name")
show(models.GroupState, "group state rule since time_lag_seconds completeness judged_at", "state", "group__name")
show(
    models.GroupTotal,
    "group queues unknown_queues lag_messages lag_messages_at_least unknown_reason",
    search="group__name",
)
show(models.GroupWindow, "group step_seconds start lag_messages readings unknown_reason", "step_seconds", "group__name")
show(models.StateChange, "at group before after rule", "after", "group__name")
show(models.QueueState, "group queue state rule since time_lag_seconds provisional", "state", "group__name")
show(
    models.QueueSnapshot,
    "group queue consumer_offset broker_offset min_offset unknown_reason changed_at",
    search="group__name",
)
show(
    models.QueueSample,
    "group queue offset first_stored_at start_offset start_rule asked_at",
    search="group__name",
)
show(
    models.BrokerStatistic,
    "broker topic group bytes_per_second sent_back_messages error asked_at",
    "cluster",
    "topic group",
)
show(models.TagSample, "group topic expression looked_at matching asked_at", search="group__name topic")

# Members, and what they own
show(
    models.Client,
    "client_id group address language version seen_since last_seen gone_by",
    search="client_id group__name",
)
show(models.MembershipGap, "group began_at ended_at is_listed", "is_listed", "group__name")
show(models.Assignment, "group queue client_id seen_since last_seen gone_by", search="client_id group__name")
show(
    models.ClientSubscription,
    "client_id group topic expression seen_since last_seen gone_by",
    search="client_id group__name topic",
)
show(
    models.Rebalance,
    "started_before group cause members_before members_after settled_at polls",
    "cause",
    "group__name",
)
show(
    models.RebalanceTopic,
    "rebalance topic queues queues_moved doubly_owned_queues replayed_messages",
    search="topic rebalance__group__name",
    related="rebalance__group",
)
show(
    models.RepeatEvent,
    "started_at group cause confidence redelivered_low redelivered_high queue_count",
    "cause confidence",
    "group__name",
)

show(
    models.StoredFinding,
    "since code severity cluster group_name broker last_seen_at resolved_at",
    "severity code",
    "group_name broker",
)

# Retries and dead letters
show(
    models.GroupBroker,
    "group broker configured consume_enable retry_queue_nums retry_max_times",
    search="group__name broker",
)
show(models.DelayLevel, "cluster broker level delay_offset broker_offset next_due_at read_at")
show(models.Rung, "group broker level messages oldest_stored_at next_due_at sampled_at", search="group__name")
show(models.HeadMessage, "group queue client_id offset since message_id error", search="group__name message_id")
show(
    models.DeadLetter,
    "group broker queue_id offset message_id origin_topic stored_at",
    search="group__name message_id",
)
show(models.DeadLetterLook, "group broker queue_id indexed_from indexed_to looked_at error", search="group__name")
show(
    models.Resend,
    "created_at group by_name destination status finished_at reason",
    "status",
    "group__name by_name",
)
show(
    models.ResendItem,
    "resend broker queue_id offset message_id outcome at error",
    "outcome",
    "message_id",
)

# Resets of offsets
show(
    models.Reset,
    "cluster_name group_name kind status by_name applied_by_name created_at reason page",
    "status kind cluster_name",
    "group_name by_name reason",
    date_hierarchy="created_at",
    view_on_site=lambda page, reset: reverse("reset", args=[reset.pk]),
)
show(
    models.ResetQueue,
    "reset topic broker queue_id before target after step outcome error",
    "outcome step",
    "reset__group_name topic",
)
show(
    models.ResetEvent,
    "at reset by_name address via sentence",
    search="reset__group_name by_name sentence",
    date_hierarchy="at",
)
show(
    models.LossAcknowledgement,
    "at group by_name applied_at",
    search="group__name by_name",
    date_hierarchy="at",
)

# Alerts: the pages under /alerts/ change them
show(
    models.Incident,
    "rule_name severity subject_key status started_at fired_at resolved_at",
    "status severity subject_kind",
    "rule_name subject_key",
    date_hierarchy="started_at",
)
show(models.IncidentEvent, "at incident kind sentence by_name", "kind", date_hierarchy="at")
show(
    models.AlertRule,
    "name enabled measure comparison threshold states for_seconds severity",
    "enabled severity measure",
    "name group_pattern topic",
)
show(
    models.Silence,
    "reason cluster group_pattern topic rule starts_at ends_at by_name",
    search="reason group_pattern by_name",
)
show(models.GroupNote, "position cluster group_pattern owner runbook_url labels", search="group_pattern owner")
# Sealed columns are not shown, not even in their sealed form.
show(
    models.Channel,
    "name kind enabled target severities changed_at changed_by_name",
    search="name target",
    exclude=["sealed"],
)
show(
    models.Delivery,
    "created_at channel number is_test status attempts sent_at error",
    "status",
    date_hierarchy="created_at",
)
show(models.DeliveryEvent, "delivery channel event")
show(models.DeliveryAttempt, "at delivery number ok seconds answer", date_hierarchy="at")
show(models.RulePreview, "created_at by since until status seconds error")
show(models.SavedFilter, "name user query is_shared created_at", "is_shared", "name query")
show(models.AlertEngine, "evaluated_at seconds rules groups error_at error")
show(models.EvaluationGap, "began_at ended_at")

# Brokers, topics, and what was read of them
show(
    models.Broker, "name broker_id cluster address version reachable last_read_at read_from error", "cluster reachable"
)
show(models.Topic, "name cluster kind first_seen_at", "cluster kind", "name")
show(models.Queue, "topic broker queue_id readable writable", search="topic__name broker")
show(models.OffsetFile, "path cluster kind broker modified_at read_at rows from_backup error", "cluster kind", "path")
show(models.LogFile, "path cluster role form zone offset size unknown_lines read_at problem", "cluster role", "path")
show(models.LogEvent, "at code cluster group client_id topic broker queue_id lines", "cluster code", "group client_id")
show(models.Reading, "taken_at cluster complete queues calls bytes seconds error", "cluster complete")

# Workers, their runs and their clocks
show(models.PipelineRun, "started_at since until seconds groups_judged queues_judged error")
show(models.DueWindow, "start step_seconds cluster", "step_seconds")
show(models.HistorySize, "measured_at seconds free_bytes")
show(models.Lease, "name holder expires_at")
show(models.MachineClock, "name seen_at steady_seconds doubt doubt_at")
show(models.ClockChange, "at machine seconds measured files")

# Who may do what on single clusters: the page of a user changes it
show(models.ClusterRole, "user cluster role", "cluster role", "user__username cluster__name")

# Who is who at the provider of the sign-on
show(models.SignOnAccount, "user name issuer subject confirmed_at refused_at", search="user__username name subject")
