"""Views of rules, channels, silences and notes."""

from typing import Any

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.channels.channel_settings import ADDRESS_NAMES, CHANNEL_FIELDS
from consumers.alerts.channels.receiver import CHANNEL_KINDS
from consumers.alerts.edits import (
    remove_channel,
    remove_note,
    remove_rule,
    save_channel,
    save_note,
    save_rule,
    send_test,
)
from consumers.alerts.fields import Shape
from consumers.alerts.notes import NOTE_FIELDS
from consumers.alerts.prometheus import rules_file
from consumers.alerts.queries.deliveries import channel_deliveries, delivery_rows
from consumers.alerts.queries.rows import ChannelRow, DeliveryRow, NoteRow, RuleRow, SilenceRow, SilenceStatus
from consumers.alerts.queries.settings import (
    channel_list,
    find_channel,
    find_note,
    find_rule,
    find_silence,
    note_list,
    rule_list,
    silence_list,
)
from consumers.alerts.rest.resource import Labels, MayManageAlerts, MayManageAllAlerts, Resource, Text, serializer_of
from consumers.alerts.rule_fields import RULE_FIELDS
from consumers.alerts.silences import SILENCE_FIELDS, end, make
from consumers.alerts.tasks import enqueue_channel
from consumers.models import (
    AlertRule,
    Channel,
    ChannelKind,
    Cluster,
    Delivery,
    DeliveryStatus,
    GroupNote,
    Measure,
    Severity,
    Silence,
)
from consumers.rest.answers import ListedRows, list_response, object_response
from consumers.rest.requests import Choice, NothingSerializer, OneKind, Paging, Parameters, body_of
from consumers.rest.schema import ANY_PROBLEMS, YAML, acted, described, problems_of

# What a rule looks like over REST, and what a request may say of one.
RuleRequestSerializer = serializer_of(
    "RuleRequest",
    RULE_FIELDS,
    "Numbers are in the measure's unit; docs/alerts.md has the measures, and what goes with each.",
)


class RuleParameters(Paging):
    enabled = serializers.BooleanField(required=False)
    severity = Choice(Severity.values, required=False)
    measure = Choice(Measure.values, required=False)


RULES = Resource(
    "alert rule",
    "alert_rule",
    AlertRule,
    RuleRow,
    RuleRequestSerializer,
    RULE_FIELDS,
    find_rule,
    rule_list,
    save_rule,
    remove_rule,
    {
        "list": "Rules in order of their names, each in words too, with how many incidents fire by it.",
        "post": "Makes a rule. It is evaluated from the next evaluation on.",
        "get": "A rule.",
        "put": "Replaces a rule: what is left out has its default again.",
        "patch": "Changes what is given of a rule. Open incidents go on by it as it is then.",
        "delete": "Removes a rule: its open incidents end. One that the site came with is switched off instead.",
    },
    RuleParameters,
)
AlertRuleListView, AlertRuleView = RULES.views()


class PrometheusRulesView(APIView):
    content_negotiation_class = OneKind

    @extend_schema(
        operation_id="prometheus_rules",
        responses={(200, YAML): OpenApiTypes.OBJECT} | problems_of(400, *ANY_PROBLEMS),
    )
    def get(self, request: Request) -> HttpResponse:
        """Enabled rules as a file of rules for Prometheus, over the names of /metrics. Rules that it cannot evaluate
        are comments that say why.
        """
        Parameters.of(request)
        clusters = Cluster.objects.order_by("name").values_list("name", flat=True)
        answer = HttpResponse(
            rules_file(AlertRule.objects.all(), list(clusters)), content_type=f"{YAML}; charset=utf-8"
        )
        answer.headers["Content-Disposition"] = 'attachment; filename="consumerscope.rules.yaml"'
        answer.headers["Cache-Control"] = "no-store"
        return answer


# Channels: channels/, channels/{id}/, its deliveries/ and test/. Secrets go in and never come out.
def _address_field(name: str) -> serializers.Field[Any, Any, Any, Any]:
    """One for all kinds that have a field of this name."""
    having = {kind.code.value: field for kind in CHANNEL_KINDS.values() for field in kind.fields if field.name == name}
    field, more = next(iter(having.values())), " ".join(filter(None, (one.help_text for one in having.values())))
    options: dict[str, Any] = {"required": False, "write_only": True}
    options["help_text"] = f"Of {', '.join(having)}{': ' if more else ''}{more}"
    if field.shape == Shape.LIST:
        return serializers.ListField(child=serializers.CharField(), **options)
    if field.shape == Shape.HEADERS:
        return serializers.DictField(child=serializers.CharField(), **options)
    is_blank = any(not one.is_required for one in having.values())
    return serializers.CharField(trim_whitespace=False, max_length=2_000, allow_blank=is_blank, **options)


_WITH_TEMPLATES = ", ".join(kind.code for kind in CHANNEL_KINDS.values() if kind.has_templates)

ChannelRequestSerializer = serializer_of(
    "ChannelRequest",
    CHANNEL_FIELDS,
    "Which of the address's fields a channel has depends on its kind, which never changes: docs/channels.md.",
    kind=serializers.ChoiceField(ChannelKind.choices),
    title_template=Text(help_text=f"Of {_WITH_TEMPLATES}"),
    body_template=Text(help_text=f"Of {_WITH_TEMPLATES}"),
    **{name: _address_field(name) for name in sorted(ADDRESS_NAMES)},
)

CHANNELS = Resource(
    "channel",
    "channel",
    Channel,
    ChannelRow,
    ChannelRequestSerializer,
    CHANNEL_FIELDS,
    lambda pk, now: find_channel(pk),
    lambda now, **paging: channel_list(**paging),
    save_channel,
    remove_channel,
    {
        "list": "Channels in order of their names, with what waits and the newest message of each.",
        "post": "Makes a channel. Nothing is sent to see whether it works: `test/` does that.",
        "get": "A channel, without its address and secrets.",
        "put": "Replaces a channel: what is left out has its default again, but of its address nothing is forgotten.",
        "patch": "Changes what is given of a channel.",
        "delete": "Removes a channel with its messages: what waits is not sent.",
    },
)
ChannelListView, ChannelView = CHANNELS.views()


class DeliveryParameters(Paging):
    status = Choice(DeliveryStatus.values, required=False)


class ChannelDeliveryListView(APIView):
    @described("channel_deliveries", DeliveryRow, parameters=DeliveryParameters, paged=True)
    def get(self, request: Request, channel: int) -> HttpResponseBase:
        """Messages of a channel, the newest first, with each try."""
        values, found = DeliveryParameters.of(request), CHANNELS.found(channel)
        wanted = values.get("status")
        return list_response(
            request,
            DeliveryRow,
            lambda page, size: ListedRows(*channel_deliveries(found.pk, status=wanted, page=page, page_size=size)),
            page=values["page"],
            page_size=values["page_size"],
        )


class ChannelTestView(APIView):
    permission_classes = [IsAuthenticated, MayManageAllAlerts]

    @acted("test_channel", None, DeliveryRow, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, channel: int) -> Response:
        """Lets a message of test go through a channel, before all others. `deliveries/` tells what became of it."""
        body_of(NothingSerializer, request)
        found = CHANNELS.found(channel)
        made = send_test(found, request.user, timezone.now())
        # Where Redis is down, beat hands it over in its turn.
        enqueue_channel(found.pk)
        (row,) = delivery_rows([Delivery.objects.select_related("channel").get(pk=made.pk)])
        return object_response(request, DeliveryRow, row, status.HTTP_202_ACCEPTED)


# Silences: GET and POST silences/; GET and DELETE silences/{id}/. One that has begun is ended, never taken back.
SilenceRequestSerializer = serializer_of(
    "SilenceRequest",
    SILENCE_FIELDS,
    "At least one of cluster, group_pattern, topic, rule and labels; or `everything`. What is not given narrows "
    "nothing.",
    rule=serializers.PrimaryKeyRelatedField(queryset=AlertRule.objects.all(), required=False, allow_null=True),
    labels=Labels(
        allow_empty=False, error_messages={"empty": "No label is named: name one at least, or leave labels out."}
    ),
)


class SilenceParameters(Paging):
    status = Choice([status.value for status in SilenceStatus], required=False)


SILENCES = Resource(
    "silence",
    "silence",
    Silence,
    SilenceRow,
    SilenceRequestSerializer,
    SILENCE_FIELDS,
    find_silence,
    silence_list,
    lambda fields, silence, by, now: make(fields, by, now),
    end,
    {
        "list": "Silences, the one that ends last first.",
        "post": "Makes a silence, with a reason and an end.",
        "get": "A silence.",
        "delete": "Ends a silence at once. Of what still fires a notification that was held back is sent then.",
    },
    SilenceParameters,
    changes=False,
    permission=MayManageAlerts,
)
SilenceListView, SilenceView = SILENCES.views()


# Notes about groups: GET and POST group-notes/; GET, PUT, PATCH and DELETE group-notes/{id}/.
GroupNoteRequestSerializer = serializer_of("GroupNoteRequest", NOTE_FIELDS)

NOTES = Resource(
    "note",
    "group_note",
    GroupNote,
    NoteRow,
    GroupNoteRequestSerializer,
    NOTE_FIELDS,
    lambda pk, now: find_note(pk),
    lambda now, **paging: note_list(**paging),
    save_note,
    remove_note,
    {
        "list": "Notes in the order in which they count.",
        "post": "Makes a note: an owner, a runbook, a text or labels for groups.",
        "get": "A note.",
        "put": "Replaces a note: what is left out says nothing any more.",
        "patch": "Changes what is given of a note.",
        "delete": "Removes a note. Incidents that are over keep what it said.",
    },
    permission=MayManageAlerts,
)
GroupNoteListView, GroupNoteView = NOTES.views()
