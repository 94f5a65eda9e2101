"""What a re-send and its messages look like over REST."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from rest_framework import serializers

from consumers.dead_letters.resend.plan import LEAST_RATE, MOST_RATE, USUAL_RATE
from consumers.models import Destination
from consumers.selectors.dead_letters.resend_rows import ResendRow
from consumers.selectors.public import public


@dataclass(frozen=True, kw_only=True)
class PlannedResend(ResendRow):
    warnings: Sequence[str] = field(metadata=public("What to know before it is started"))
    receivers: Sequence[str] = field(
        metadata=public("The groups that get the messages, as far as readings have seen them")
    )


class PlaceSerializer(serializers.Serializer[Any]):
    broker = serializers.CharField()
    queue_id = serializers.IntegerField(min_value=0)
    offset = serializers.IntegerField(min_value=0)


class FilterSerializer(serializers.Serializer[Any]):
    """As the parameters of `dlq/`."""

    key = serializers.CharField(required=False)
    key_part = serializers.CharField(required=False)
    tag = serializers.CharField(required=False)
    message_id = serializers.CharField(required=False)
    origin_topic = serializers.CharField(required=False)
    resent = serializers.BooleanField(required=False)
    to = serializers.DateTimeField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """`from` is a word of Python's own, so that it cannot be declared as the others are."""
        return {"from": serializers.DateTimeField(required=False), **super().get_fields()}

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            raise serializers.ValidationError({name: ["This filter is not known."] for name in unknown})
        return super().to_internal_value(data)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "from" in attrs and "to" in attrs and attrs["from"] >= attrs["to"]:
            raise serializers.ValidationError({"from": ["The range is empty: 'from' must be before 'to'."]})
        return attrs


class WishSerializer(serializers.Serializer[Any]):
    """One of `messages`, `filter` and `all`: an empty list or filter is refused, never taken for all."""

    messages = PlaceSerializer(
        many=True,
        required=False,
        allow_empty=False,
        error_messages={"empty": "No message is chosen: name one at least, or give 'filter' or 'all'."},
    )
    filter = FilterSerializer(required=False)
    all = serializers.BooleanField(required=False, help_text="true: all dead letters of the group")
    destination = serializers.ChoiceField(Destination.choices)
    reason = serializers.CharField()
    again = serializers.BooleanField(default=False)
    rate_per_second = serializers.FloatField(default=USUAL_RATE, min_value=LEAST_RATE, max_value=MOST_RATE)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        given = [name for name in ("messages", "filter", "all") if name in attrs]
        if len(given) != 1:
            raise serializers.ValidationError({"messages": ["Give either 'messages' or 'filter' or 'all'."]})
        if "filter" in attrs and not attrs["filter"]:
            sentence = "An empty filter chooses nothing: give one filter at least, or 'all': true in its place."
            raise serializers.ValidationError({"filter": [sentence]})
        if attrs.get("all") is False:
            raise serializers.ValidationError({"all": ["It is true, or left out: give 'messages' or 'filter' then."]})
        return attrs


class ConfirmSerializer(serializers.Serializer[Any]):
    confirm = serializers.CharField(help_text="The group's name")
