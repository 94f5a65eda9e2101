"""GET repeats/ and GET groups/{cluster}/{group}/repeats/"""

from typing import Any

from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from consumers.rest.answers import ListedRows, list_response
from consumers.rest.problems import refuse_unknown
from consumers.rest.requests import PAGE, Choice, Paging, Ranged, taken
from consumers.rest.schema.described import described, made_serializer
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence

from .queries import RepeatFilters, RepeatRow, filtered, repeat_rows


class RepeatsOfGroupParameters(Paging, Ranged):
    """`from` and `to` are for the reading that first shows the event: in [from, to)."""

    cause = Choice([cause.value for cause in RepeatCause], required=False, help_text="Has this cause")
    confidence = Choice([one.value for one in Confidence], required=False, help_text="Its cause is so sure")


class RepeatParameters(RepeatsOfGroupParameters):
    cluster = serializers.CharField(required=False)
    group = serializers.CharField(required=False, help_text="The whole name; of RocketMQ's own groups only by name")


class RepeatEvidenceSerializer(serializers.Serializer[Any]):
    """What supports the cause. Beside these the parameters of the code: `client_id`, `messages`, `reset` …"""

    code = serializers.ChoiceField([code.value for code in RepeatEvidence])
    sentence = serializers.CharField()

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return dict(instance)


RepeatSerializer = made_serializer(RepeatRow, evidence=RepeatEvidenceSerializer(many=True))


class RepeatListView(APIView):
    @described("repeats", RepeatSerializer, parameters=RepeatParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Repeats of all groups, the newest first: one row for each event of a group and cause."""
        return _rows(request, RepeatParameters.of(request))


class GroupRepeatListView(APIView):
    @described("group_repeats", RepeatSerializer, parameters=RepeatsOfGroupParameters, paged=True)
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Repeats of one group, the newest first: one row for each event of a cause."""
        return _rows(request, RepeatsOfGroupParameters.of(request) | {"cluster": cluster, "group": group})


def _rows(request: Request, values: dict[str, Any]) -> HttpResponseBase:
    cluster, group = values.get("cluster"), values.get("group")
    refuse_unknown(cluster, group)
    cause, confidence = values.get("cause"), values.get("confidence")
    filters = RepeatFilters(
        cluster=cluster,
        group=group,
        cause=None if cause is None else RepeatCause(cause),
        confidence=None if confidence is None else Confidence(confidence),
        since=values.get("from"),
        until=values.get("to"),
    )
    paging = taken(values, *PAGE)

    def find(page: int, page_size: int) -> ListedRows:
        found = filtered(filters)
        return ListedRows(repeat_rows(found, (page - 1) * page_size, page_size), found.count())

    return list_response(request, RepeatSerializer, find, **paging)
