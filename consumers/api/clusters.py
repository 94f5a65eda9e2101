"""GET clusters/"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.selectors.cluster_rows import ClusterRow, Connection, Freshness
from consumers.selectors.clusters import cluster_list
from consumers.selectors.history_use import HistoryUse, history_uses
from consumers.selectors.retries.broker_levels import BrokerLevels
from consumers.selectors.retries.delay_levels import levels_by_name

from .delay_levels import BrokerLevelsSerializer
from .lists import list_response, whole
from .parameters import Paging
from .schema import described


class BrokerSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    id = serializers.IntegerField(help_text="0 is the master; a slave is read only in its place")
    address = serializers.CharField()
    version = serializers.CharField(allow_null=True)
    reachable = serializers.BooleanField(allow_null=True)
    last_read_at = serializers.DateTimeField(allow_null=True)
    failing_since = serializers.DateTimeField(allow_null=True, help_text="Null while its newest reading was good")
    read_from = serializers.CharField(allow_null=True, help_text="The slave that was read in the master's place")
    note = serializers.CharField(
        allow_null=True, help_text="That it was not read for too long, or how old offsets of a slave may be"
    )
    error = serializers.CharField(allow_null=True, help_text="Null while the newest reading of this address was good")
    calls = serializers.IntegerField(allow_null=True, help_text="Of the newest reading, for this broker's offsets")
    bytes = serializers.IntegerField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class LastReadingSerializer(serializers.Serializer[Any]):
    taken_at = serializers.DateTimeField()
    complete = serializers.BooleanField()
    calls = serializers.IntegerField()
    bytes = serializers.IntegerField()
    seconds = serializers.FloatField()
    queues = serializers.IntegerField()
    error = serializers.CharField(allow_null=True, help_text="Why nothing was read at all")


class HistoryTableSerializer(serializers.Serializer[Any]):
    table = serializers.CharField(help_text="`windows_3600`: of an hour for each queue; `readings`: every single one")
    kept_seconds = serializers.FloatField(help_text="How long it is kept, by a setting")
    bytes = serializers.IntegerField(allow_null=True)
    growth_bytes_a_day = serializers.FloatField(
        allow_null=True,
        help_text="What its last whole days (UTC) took; less its oldest day where it is as old as it is kept",
    )
    unknown = serializers.DictField(child=serializers.CharField())


class HistoryUseSerializer(serializers.Serializer[Any]):
    """The room that the history takes, as upkeep measures it every hour. The disk is that of all clusters."""

    measured_at = serializers.DateTimeField(allow_null=True)
    bytes = serializers.IntegerField(allow_null=True, help_text="Of this cluster")
    growth_bytes_a_day = serializers.FloatField(allow_null=True, help_text="Of this cluster")
    free_bytes = serializers.IntegerField(allow_null=True, help_text="On the disk, when it was measured")
    floor_bytes = serializers.IntegerField(help_text="With less free than this no history is added, by a setting")
    floor_seconds = serializers.FloatField(
        allow_null=True, help_text="From `measured_at` until the disk is at its floor, at the growth of all clusters"
    )
    tables = HistoryTableSerializer(many=True)
    unknown = serializers.DictField(child=serializers.CharField())


class ClusterSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    namesrv = serializers.CharField()
    connection = serializers.ChoiceField([connection.value for connection in Connection])
    # A field's own attribute of this name is set for each instance, and not looked for here.
    read_only = serializers.BooleanField(  # type: ignore[assignment]
        help_text="Nothing is changed on it from here, by a setting"
    )
    brokers = BrokerSerializer(many=True)
    last_reading = LastReadingSerializer(allow_null=True)
    freshness = serializers.ChoiceField([freshness.value for freshness in Freshness])
    freshness_detail = serializers.CharField()
    since = serializers.DateTimeField(allow_null=True)
    brokers_read = serializers.IntegerField()
    brokers_listed = serializers.IntegerField()
    failed_readings = serializers.IntegerField(help_text="Of the last hour: not whole")
    missed_readings = serializers.IntegerField(help_text="Of the last hour: due and not taken")
    delay_levels = BrokerLevelsSerializer(many=True)
    history = HistoryUseSerializer()
    unknown = serializers.DictField(child=serializers.CharField())


@dataclass(frozen=True, kw_only=True)
class ClusterDocument(ClusterRow):
    delay_levels: Sequence[BrokerLevels]
    history: HistoryUse


class ClusterListView(APIView):
    @described("clusters", ClusterSerializer, parameters=Paging, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """The registered clusters with their brokers and last reading."""
        paging, now = Paging.of(request), timezone.now()
        levels = levels_by_name(now)
        clusters = cluster_list(now)
        uses = history_uses([row.name for row in clusters])
        rows = [
            ClusterDocument(**vars(row), delay_levels=levels.get(row.name, []), history=uses[row.name])
            for row in clusters
        ]
        return list_response(request, ClusterSerializer, whole(rows), **paging)
