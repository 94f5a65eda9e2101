"""GET rebalances/ and GET groups/{cluster}/{group}/rebalances/"""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from consumers.rebalances.detail import rebalance_rows
from consumers.rebalances.rows import RebalanceFilters, RebalanceRow
from consumers.rest.answers import ListedRows, group_lists
from consumers.rest.requests import Choice, Paging, Ranged
from consumers.rest.schema import made_serializer
from consumers.vocabulary.reasons import RebalanceCause


class OfGroupParameters(Paging, Ranged):
    """`from` and `to` are for the reading that first saw the rebalance: in [from, to)."""

    cause = Choice(
        [cause.value for cause in RebalanceCause], required=False, help_text="Has this cause, perhaps among others"
    )


class EvidenceSerializer(serializers.Serializer[Any]):
    """The evidence of one cause. In addition, the details of the cause: `client_id`, `address`, `topic`, `before` …"""

    cause = serializers.ChoiceField([cause.value for cause in RebalanceCause])
    sentence = serializers.CharField()

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return dict(instance)


RebalanceSerializer = made_serializer(RebalanceRow, evidence=EvidenceSerializer(many=True))


def _listed(values: Mapping[str, Any], page: int, page_size: int) -> ListedRows:
    cause = values.get("cause")
    filters = RebalanceFilters(
        cluster=values.get("cluster"),
        group=values.get("group"),
        cause=None if cause is None else RebalanceCause(cause),
        since=values.get("from"),
        until=values.get("to"),
    )
    found = rebalance_rows(filters, page=page, page_size=page_size)
    return ListedRows(found.rows, found.count)


RebalanceListView, GroupRebalanceListView = group_lists(
    "rebalances",
    RebalanceSerializer,
    OfGroupParameters,
    _listed,
    of_all="Rebalances of all groups, the newest first: one row for each topic of one.",
    of_one="Rebalances of one group, the newest first: one row for each topic of one.",
)
