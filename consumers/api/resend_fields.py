"""What a re-send and its messages look like over REST."""

from typing import Any

from rest_framework import serializers

from consumers.dead_letters.resend.plan import LEAST_RATE, MOST_RATE, USUAL_RATE
from consumers.models import Destination, ResendOutcome, ResendStatus

OUTCOMES = [(outcome.value, outcome.label) for outcome in ResendOutcome]


class ResendSerializer(serializers.Serializer[Any]):
    """A re-send of dead letters. What is not known, or is not yet, is null: `unknown` says why."""

    id = serializers.UUIDField()
    cluster = serializers.CharField()
    group = serializers.CharField()
    status = serializers.ChoiceField(ResendStatus.choices)
    destination = serializers.ChoiceField(
        Destination.choices,
        help_text="group: the group's retry topic, no other group sees it; topic: every group of the topic gets it",
    )
    by = serializers.CharField(help_text="Who planned it")
    reason = serializers.CharField()
    again = serializers.BooleanField(help_text="Messages that were re-sent before are sent once more")
    rate_per_second = serializers.FloatField()
    selection = serializers.DictField(help_text="What was chosen: {messages: [[broker, queue_id, offset]]} or {filter}")
    cancel_wanted = serializers.BooleanField()
    messages = serializers.IntegerField()
    outcomes = serializers.DictField(
        child=serializers.IntegerField(), help_text="{outcome: messages}, without those that no message has"
    )
    expected_seconds = serializers.FloatField(allow_null=True, help_text="Until its end, at its rate")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="A plan that is not started by then is void")
    started_at = serializers.DateTimeField(allow_null=True)
    working_at = serializers.DateTimeField(allow_null=True, help_text="When its worker was last seen to work on it")
    finished_at = serializers.DateTimeField(allow_null=True)
    detail = serializers.CharField(allow_null=True, help_text="Why it ended before its end")
    unknown = serializers.DictField(child=serializers.CharField())


class PlannedResendSerializer(ResendSerializer):
    warnings = serializers.ListField(child=serializers.CharField(), help_text="What to know before it is started")
    receivers = serializers.ListField(
        child=serializers.CharField(), help_text="The groups that get the messages, as far as readings have seen them"
    )


class ResendMessageSerializer(serializers.Serializer[Any]):
    """What became of one message."""

    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    offset = serializers.IntegerField(help_text="Its place among the dead letters, where it stays")
    message_id = serializers.CharField(allow_null=True)
    outcome = serializers.ChoiceField(OUTCOMES, help_text="unknown: it may have been sent, and is not sent again")
    at = serializers.DateTimeField(allow_null=True)
    target_topic = serializers.CharField(allow_null=True)
    target_broker = serializers.CharField(allow_null=True)
    target_queue_id = serializers.IntegerField(allow_null=True)
    target_offset = serializers.IntegerField(allow_null=True)
    detail = serializers.CharField(allow_null=True, help_text="Why it was not sent, or why that is not known")
    unknown = serializers.DictField(child=serializers.CharField())


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
