"""GET repeats/ and GET groups/{cluster}/{group}/repeats/"""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from consumers.rest.answers import ListedRows, group_lists
from consumers.rest.requests import Choice, Paging, Ranged
from consumers.rest.schema import made_serializer
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence

from .queries import RepeatFilters, RepeatRow, filtered, repeat_rows


class RepeatsOfGroupParameters(Paging, Ranged):
    """`from` and `to` are for the reading that first shows the event: in [from, to)."""

    cause = Choice([cause.value for cause in RepeatCause], required=False, help_text="Has this cause")
    confidence = Choice([one.value for one in Confidence], required=False, help_text="Its cause is so sure")


class RepeatEvidenceSerializer(serializers.Serializer[Any]):
    """What supports the cause. Beside these the parameters of the code: `client_id`, `messages`, `reset` …"""

    code = serializers.ChoiceField([code.value for code in RepeatEvidence])
    sentence = serializers.CharField()

    def to_representation(self, instance: dict[str, Any]) -> dict[str, Any]:
        return dict(instance)


RepeatSerializer = made_serializer(RepeatRow, evidence=RepeatEvidenceSerializer(many=True))


def _listed(values: Mapping[str, Any], page: int, page_size: int) -> ListedRows:
    cause, confidence = values.get("cause"), values.get("confidence")
    filters = RepeatFilters(
        cluster=values.get("cluster"),
        group=values.get("group"),
        cause=None if cause is None else RepeatCause(cause),
        confidence=None if confidence is None else Confidence(confidence),
        since=values.get("from"),
        until=values.get("to"),
    )
    found = filtered(filters)
    return ListedRows(repeat_rows(found, (page - 1) * page_size, page_size), found.count())


RepeatListView, GroupRepeatListView = group_lists(
    "repeats",
    RepeatSerializer,
    RepeatsOfGroupParameters,
    _listed,
    of_all="Repeats of all groups, the newest first: one row for each event of a group and cause.",
    of_one="Repeats of one group, the newest first: one row for each event of a cause.",
)
