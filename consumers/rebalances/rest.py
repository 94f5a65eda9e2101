"""GET rebalances/ and GET groups/{cluster}/{group}/rebalances/"""

from typing import Any

from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.rebalances.detail import rebalance_rows
from consumers.rebalances.rows import RebalanceFilters, RebalanceRow
from consumers.rest.answers import ListedRows, list_response
from consumers.rest.problems import refuse_unknown
from consumers.rest.requests import PAGE, Choice, Paging, Ranged, taken
from consumers.rest.schema.described import described, made_serializer
from consumers.vocabulary.reasons import RebalanceCause


class OfGroupParameters(Paging, Ranged):
    """`from` and `to` are for the reading that first saw the rebalance: in [from, to)."""

    cause = Choice(
        [cause.value for cause in RebalanceCause], required=False, help_text="Has this cause, perhaps among others"
    )


class RebalanceParameters(OfGroupParameters):
    cluster = serializers.CharField(required=False)
    group = serializers.CharField(required=False, help_text="The whole name; of RocketMQ's own groups only by name")


class EvidenceSerializer(serializers.Serializer[Any]):
    """What one cause was told by. Beside these the facts of the cause: `client_id`, `address`, `topic`, `before` …"""

    cause = serializers.ChoiceField([cause.value for cause in RebalanceCause])
    sentence = serializers.CharField()

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return dict(instance)


RebalanceSerializer = made_serializer(RebalanceRow, evidence=EvidenceSerializer(many=True))


class RebalanceListView(APIView):
    @described("rebalances", RebalanceSerializer, parameters=RebalanceParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Rebalances of all groups, the newest first: one row for each topic of one."""
        return _rows(request, RebalanceParameters.of(request))


class GroupRebalanceListView(APIView):
    @described("group_rebalances", RebalanceSerializer, parameters=OfGroupParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Rebalances of one group, the newest first: one row for each topic of one."""
        return _rows(request, OfGroupParameters.of(request) | {"cluster": cluster, "group": group})


def _rows(request: Request, values: dict[str, Any]) -> HttpResponseBase:
    cluster, group = values.get("cluster"), values.get("group")
    refuse_unknown(cluster, group)
    cause = values.get("cause")
    filters = RebalanceFilters(
        cluster=cluster,
        group=group,
        cause=None if cause is None else RebalanceCause(cause),
        since=values.get("from"),
        until=values.get("to"),
    )
    paging = taken(values, *PAGE)

    def find(page: int, page_size: int) -> ListedRows:
        found = rebalance_rows(filters, page=page, page_size=page_size)
        return ListedRows(found.rows, found.count)

    return list_response(request, RebalanceSerializer, find, **paging)
