"""GET groups/"""

from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.models import Cluster, GroupKind, HealthLevel, State, TimeLagKind
from consumers.selectors.alerts.evaluated import why_not_evaluated
from consumers.selectors.groups.listing import ORDERINGS, group_list
from consumers.selectors.groups.rows import GroupFilters, ListKind
from consumers.selectors.health.rows import HealthCode
from consumers.vocabulary.unknown import UnknownReason
from consumers.vocabulary.volumes import VolumeReason

from .lists import Found, list_response
from .parameters import Choice, Paging
from .refusals import NotNow
from .schema import described

STALE = "Evaluations are late: the state is that of judged_at, and nothing polled since contradicts it"
ORDERING_CHOICES = [f"{sign}{column}" for column in sorted(ORDERINGS) for sign in ("", "-")]


class GroupParameters(Paging):
    cluster = serializers.CharField(required=False)
    search = serializers.CharField(required=False, help_text="A part of the group's name")
    state = Choice(list(State), required=False)
    health = Choice(HealthLevel.values, required=False)
    online = serializers.BooleanField(required=False)
    kind = Choice([kind.value for kind in ListKind], default=ListKind.USER.value, help_text="Ghosts are no longer used")
    firing = serializers.BooleanField(required=False, help_text="Whether an incident of it fires")
    ordering = Choice(ORDERING_CHOICES, required=False, help_text="`-` for descending; unknown is last either way")


class OpenIncidentsSerializer(serializers.Serializer[Any]):
    """Of one group; what keeps many from being read has an incident of its own."""

    firing = serializers.IntegerField()
    critical = serializers.IntegerField(help_text="Of those that fire")
    warning = serializers.IntegerField(help_text="Of those that fire")
    info = serializers.IntegerField(help_text="Of those that fire")
    pending = serializers.IntegerField()


class KnownPartSerializer(serializers.Serializer[Any]):
    value = serializers.FloatField(
        help_text="Messages that died, at least; or the share over the known part of the hour"
    )
    since = serializers.DateTimeField(
        allow_null=True, help_text="When that part begins; null: with the hour or the day"
    )


class HealthReasonSerializer(serializers.Serializer[Any]):
    code = serializers.ChoiceField([code.value for code in HealthCode])
    level = serializers.ChoiceField(HealthLevel.choices, help_text="`ok`: worth knowing, and no fault")
    parameters = serializers.DictField(help_text="The numbers and names of the text")
    text = serializers.CharField()


class GroupSerializer(serializers.Serializer[Any]):
    """What is not known is null: `unknown_reason` says why the lag is, `unknown` why other fields are."""

    cluster = serializers.CharField()
    group = serializers.CharField()
    kind = serializers.ChoiceField(GroupKind.choices)
    state = serializers.ChoiceField(list(State))
    stale = serializers.BooleanField(help_text=STALE)
    state_detail = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    health = serializers.ChoiceField(
        HealthLevel.choices, help_text="The worst of state, ownership, retry health checks, DLQ inflow and rebalances"
    )
    health_reasons = HealthReasonSerializer(many=True, help_text="Worst first")
    flags = serializers.ListField(child=serializers.CharField(), help_text="Kinds that hold: ghost, paused, …")
    flag_reasons = serializers.DictField(child=serializers.CharField(), help_text="A sentence for each flag")
    completeness = serializers.FloatField(allow_null=True)
    lag_messages = serializers.IntegerField(allow_null=True)
    lag_messages_at_least = serializers.IntegerField(allow_null=True, help_text="The sum of the queues that are known")
    never_committed_queues = serializers.IntegerField(allow_null=True)
    lost_queues = serializers.IntegerField(
        allow_null=True, help_text="Queues whose committed offset was read before, and is gone from the broker"
    )
    time_lag_seconds = serializers.FloatField(allow_null=True)
    time_lag_kind = serializers.ChoiceField(TimeLagKind.choices)
    time_lag_at = serializers.DateTimeField(allow_null=True, help_text="The moment that the time lag is of")
    consume_rate = serializers.FloatField(allow_null=True, help_text="Messages per second")
    produce_rate = serializers.FloatField(allow_null=True, help_text="Messages per second")
    drain_seconds = serializers.FloatField(allow_null=True)
    members = serializers.IntegerField(allow_null=True)
    online = serializers.BooleanField(allow_null=True)
    message_model = serializers.CharField(allow_null=True)
    consume_type = serializers.CharField(allow_null=True)
    retry_rate = serializers.FloatField(allow_null=True, help_text="Messages per second into the retry topic")
    retry_share = serializers.FloatField(
        allow_null=True, help_text="Redeliveries per message consumed, over the last hour; above 1 where more came back"
    )
    dlq_messages = serializers.IntegerField(allow_null=True, help_text="Dead letters that the brokers keep")
    dlq_day_messages = serializers.IntegerField(allow_null=True, help_text="Dead letters that came in 24 hours")
    expired_messages = serializers.IntegerField(allow_null=True, help_text="Unconsumed, and deleted by the broker")
    last_rebalance_at = serializers.DateTimeField(allow_null=True, help_text="The reading that first saw the newest")
    open_incidents = OpenIncidentsSerializer(allow_null=True)
    taken_at = serializers.DateTimeField(allow_null=True, help_text="While the lag is unknown: the last good reading")
    judged_at = serializers.DateTimeField(allow_null=True)
    unknown_reason = serializers.CharField(allow_null=True)
    unknown_reason_code = serializers.ChoiceField(list(UnknownReason), allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())
    unknown_codes = serializers.DictField(
        child=serializers.ChoiceField(list(VolumeReason)),
        help_text="Codes of those reasons that have one: of `retry_share` and `dlq_day_messages`",
    )
    known_parts = serializers.DictField(
        child=KnownPartSerializer(),
        help_text="What is known of `retry_share` and `dlq_day_messages` where they are null",
    )


class GroupListView(APIView):
    @described("groups", GroupSerializer, parameters=GroupParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Consumer groups; filters and order work on what is shown."""
        values = GroupParameters.of(request)
        page, page_size = values.pop("page"), values.pop("page_size")
        filters = GroupFilters(**values)
        if filters.cluster and not Cluster.objects.filter(name=filters.cluster).exists():
            raise NotFound(f"There is no cluster {filters.cluster!r}.")
        now = timezone.now()
        if filters.firing is not None and (late := why_not_evaluated(now)):
            raise NotNow(f"Which groups fire is not known: {late}.")

        def find(page: int, page_size: int) -> Found:
            found = group_list(filters, now=now, page=page, page_size=page_size)
            return Found(found.rows, found.count)

        all_rows = settings.API_CSV_ROWS
        return list_response(request, GroupSerializer, find, page=page, page_size=page_size, at_once=all_rows)
