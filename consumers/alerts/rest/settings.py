"""Views of rules, channels, silences and notes."""

from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.alerts.channels.channel_kinds import CHANNEL_KINDS
from consumers.alerts.channels.channel_settings import ADDRESS_NAMES, CHANNEL_FIELDS
from consumers.alerts.edits import (
    keep_channel,
    keep_note,
    keep_rule,
    remove_channel,
    remove_note,
    remove_rule,
    send_test,
)
from consumers.alerts.fields import Shape
from consumers.alerts.notes import NOTE_FIELDS
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
from consumers.alerts.rest.resource import Labels, MayManageAlerts, Resource, Text, serializer_of
from consumers.alerts.rules.rule_fields import RULE_FIELDS
from consumers.alerts.silences import SILENCE_FIELDS, end, make
from consumers.alerts.tasks import hand_over_channel
from consumers.models import (
    AlertRule,
    Channel,
    ChannelKind,
    Delivery,
    DeliveryStatus,
    GroupNote,
    Measure,
    Severity,
    Silence,
)
from consumers.rest.answers import Found, list_response, object_response
from consumers.rest.requests import PAGE, Choice, NothingSerializer, Paging, said, taken
from consumers.rest.schema.described import acted, described

# What a rule looks like over REST, and what a request may say of one.
RuleRequestSerializer = serializer_of(
    "RuleWish",
    RULE_FIELDS,
    "Numbers are in the measure's unit; docs/alerts.md has the measures, and what goes with each.",
)

RULES = Resource(
    "alert rule", AlertRule, RuleRow, RuleRequestSerializer, RULE_FIELDS, find_rule, keep_rule, remove_rule
)


class RuleParameters(Paging):
    enabled = serializers.BooleanField(required=False)
    severity = Choice(Severity.values, required=False)
    measure = Choice(Measure.values, required=False)


class AlertRuleListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("alert_rules", RuleRow, parameters=RuleParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Rules in order of their names, each in words too, with how many incidents fire by it."""
        values = RuleParameters.of(request)
        paging, now = taken(values, *PAGE), timezone.now()

        def find(page: int, page_size: int) -> Found:
            return Found(*rule_list(now, page=page, page_size=page_size, **values))

        return list_response(request, RuleRow, find, **paging)

    @acted("add_alert_rule", RuleRequestSerializer, RuleRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a rule. It is evaluated from the next evaluation on."""
        return RULES.made(request)


class AlertRuleView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("alert_rule", RuleRow)
    def get(self, request: Request, rule: int) -> Response:
        """A rule."""
        return RULES.read(request, rule)

    @acted("replace_alert_rule", RuleRequestSerializer, RuleRow, status.HTTP_200_OK)
    def put(self, request: Request, rule: int) -> Response:
        """Replaces a rule: what is left out has its default again."""
        return RULES.replaced(request, rule)

    @acted("change_alert_rule", RuleRequestSerializer, RuleRow, status.HTTP_200_OK)
    def patch(self, request: Request, rule: int) -> Response:
        """Changes what is given of a rule. Open incidents go on by it as it is then."""
        return RULES.changed(request, rule)

    @acted("remove_alert_rule", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, rule: int) -> Response:
        """Removes a rule: its open incidents end. One that the site came with is switched off instead."""
        return RULES.removed(request, rule)


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
    "ChannelWish",
    CHANNEL_FIELDS,
    "Which of the address's fields a channel has depends on its kind, which never changes: docs/channels.md.",
    kind=serializers.ChoiceField(ChannelKind.choices),
    title_template=Text(help_text=f"Of {_WITH_TEMPLATES}"),
    body_template=Text(help_text=f"Of {_WITH_TEMPLATES}"),
    **{name: _address_field(name) for name in sorted(ADDRESS_NAMES)},
)

CHANNELS = Resource(
    "channel",
    Channel,
    ChannelRow,
    ChannelRequestSerializer,
    CHANNEL_FIELDS,
    lambda pk, now: find_channel(pk),
    keep_channel,
    remove_channel,
)


class ChannelListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("channels", ChannelRow, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Channels in order of their names, with what waits and the newest message of each."""
        return list_response(
            request,
            ChannelRow,
            lambda page, size: Found(*channel_list(page=page, page_size=size)),
            **Paging.of(request),
        )

    @acted("add_channel", ChannelRequestSerializer, ChannelRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a channel. Nothing is sent to see whether it works: `test/` does that."""
        return CHANNELS.made(request)


class ChannelView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("channel", ChannelRow)
    def get(self, request: Request, channel: int) -> Response:
        """A channel, without its address and secrets."""
        return CHANNELS.read(request, channel)

    @acted("replace_channel", ChannelRequestSerializer, ChannelRow, status.HTTP_200_OK)
    def put(self, request: Request, channel: int) -> Response:
        """Replaces a channel: what is left out has its default again, but of its address nothing is forgotten."""
        return CHANNELS.replaced(request, channel)

    @acted("change_channel", ChannelRequestSerializer, ChannelRow, status.HTTP_200_OK)
    def patch(self, request: Request, channel: int) -> Response:
        """Changes what is given of a channel."""
        return CHANNELS.changed(request, channel)

    @acted("remove_channel", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, channel: int) -> Response:
        """Removes a channel with its messages: what waits is told to nobody through it."""
        return CHANNELS.removed(request, channel)


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
            lambda page, size: Found(*channel_deliveries(found.pk, status=wanted, page=page, page_size=size)),
            page=values["page"],
            page_size=values["page_size"],
        )


class ChannelTestView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @acted("test_channel", None, DeliveryRow, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, channel: int) -> Response:
        """Lets a message of test go through a channel, before all others. `deliveries/` tells what became of it."""
        said(NothingSerializer, request)
        found = CHANNELS.found(channel)
        made = send_test(found, request.user, timezone.now())
        # Where Redis is down, beat hands it over in its turn.
        hand_over_channel(found.pk)
        (row,) = delivery_rows([Delivery.objects.select_related("channel").get(pk=made.pk)])
        return object_response(request, DeliveryRow, row, status.HTTP_202_ACCEPTED)


# Silences: GET and POST silences/; GET and DELETE silences/{id}/. One that has begun is ended, never taken back.
SilenceRequestSerializer = serializer_of(
    "SilenceWish",
    SILENCE_FIELDS,
    "At least one of cluster, group_pattern, topic, rule and labels; or `everything`. What is not given narrows "
    "nothing.",
    rule=serializers.PrimaryKeyRelatedField(queryset=AlertRule.objects.all(), required=False, allow_null=True),
    labels=Labels(
        allow_empty=False, error_messages={"empty": "No label is named: name one at least, or leave labels out."}
    ),
)

SILENCES = Resource(
    "silence",
    Silence,
    SilenceRow,
    SilenceRequestSerializer,
    SILENCE_FIELDS,
    find_silence,
    lambda fields, silence, by, now: make(fields, by, now),
    end,
)


class SilenceParameters(Paging):
    status = Choice([status.value for status in SilenceStatus], required=False)


class SilenceListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("silences", SilenceRow, parameters=SilenceParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Silences, the one that ends last first."""
        values, now = SilenceParameters.of(request), timezone.now()
        wanted = SilenceStatus(values["status"]) if "status" in values else None
        return list_response(
            request,
            SilenceRow,
            lambda page, size: Found(*silence_list(now, status=wanted, page=page, page_size=size)),
            page=values["page"],
            page_size=values["page_size"],
        )

    @acted("add_silence", SilenceRequestSerializer, SilenceRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a silence, with a reason and an end."""
        return SILENCES.made(request)


class SilenceView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("silence", SilenceRow)
    def get(self, request: Request, silence: int) -> Response:
        """A silence."""
        return SILENCES.read(request, silence)

    @acted("end_silence", None, SilenceRow, status.HTTP_200_OK)
    def delete(self, request: Request, silence: int) -> Response:
        """Ends a silence at once. What still fires and was never told is told then."""
        return SILENCES.ended(request, silence)


# Notes about groups: GET and POST group-notes/; GET, PUT, PATCH and DELETE group-notes/{id}/.
GroupNoteRequestSerializer = serializer_of("GroupNoteWish", NOTE_FIELDS)

NOTES = Resource(
    "note",
    GroupNote,
    NoteRow,
    GroupNoteRequestSerializer,
    NOTE_FIELDS,
    lambda pk, now: find_note(pk),
    keep_note,
    remove_note,
)


class GroupNoteListView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("group_notes", NoteRow, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Notes in the order in which they count."""
        return list_response(
            request,
            NoteRow,
            lambda page, size: Found(*note_list(page=page, page_size=size)),
            **Paging.of(request),
        )

    @acted("add_group_note", GroupNoteRequestSerializer, NoteRow, status.HTTP_201_CREATED)
    def post(self, request: Request) -> Response:
        """Makes a note: an owner, a runbook, a text or labels for groups."""
        return NOTES.made(request)


class GroupNoteView(APIView):
    permission_classes = [IsAuthenticated, MayManageAlerts]

    @described("group_note", NoteRow)
    def get(self, request: Request, note: int) -> Response:
        """A note."""
        return NOTES.read(request, note)

    @acted("replace_group_note", GroupNoteRequestSerializer, NoteRow, status.HTTP_200_OK)
    def put(self, request: Request, note: int) -> Response:
        """Replaces a note: what is left out says nothing any more."""
        return NOTES.replaced(request, note)

    @acted("change_group_note", GroupNoteRequestSerializer, NoteRow, status.HTTP_200_OK)
    def patch(self, request: Request, note: int) -> Response:
        """Changes what is given of a note."""
        return NOTES.changed(request, note)

    @acted("remove_group_note", None, None, status.HTTP_204_NO_CONTENT)
    def delete(self, request: Request, note: int) -> Response:
        """Removes a note. Incidents that are over keep what it said."""
        return NOTES.removed(request, note)
