"""What GET groups/{cluster}/{group}/retries/ says of what waits, and of what keeps it from coming back."""

from typing import Any

from rest_framework import serializers

from consumers.selectors.retries.ladder_rows import DueRetries


class WaitingLevelSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField()
    at = serializers.DateTimeField()


class WaitingSerializer(serializers.Serializer[Any]):
    """Of the samples of all levels together: `messages` of the group among `looked_at` of `of` that waited."""

    messages = serializers.IntegerField(allow_null=True)
    looked_at = serializers.IntegerField(allow_null=True)
    of = serializers.IntegerField(allow_null=True)
    oldest_waiting = WaitingLevelSerializer(allow_null=True, help_text="Null with no message too")
    next_to_fire = WaitingLevelSerializer(allow_null=True, help_text="Null with no message too")
    unknown = serializers.DictField(child=serializers.CharField())


class LastAttemptsSerializer(serializers.Serializer[Any]):
    """Sampled messages that wait for their last retry: if it fails they are dead."""

    messages = serializers.IntegerField(allow_null=True)
    next_due_at = serializers.DateTimeField(allow_null=True, help_text="Null with no message too")
    max_retries = serializers.IntegerField(allow_null=True, help_text="Null too where nothing limits them")
    told_by = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class DueSerializer(serializers.Serializer[Any]):
    """Due and not consumed: the queues of the group's own retry topics."""

    queues = serializers.IntegerField()
    lag_messages = serializers.IntegerField(allow_null=True)
    lag_messages_at_least = serializers.IntegerField(allow_null=True)
    oldest_seconds = serializers.FloatField(allow_null=True, help_text="Since the first of them was due")
    unknown_reason = serializers.SerializerMethodField(help_text="Why lag_messages is null")
    unknown = serializers.DictField(child=serializers.CharField())

    def get_unknown_reason(self, due: DueRetries) -> str | None:
        return due.unknown.get("lag_messages")


class WheelSerializer(serializers.Serializer[Any]):
    messages = serializers.IntegerField(allow_null=True)
    counted_at = serializers.DateTimeField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class PolicySerializer(serializers.Serializer[Any]):
    """Delays of retries 1 to 16 by the group's configuration, heeded by members that pop only."""

    kind = serializers.CharField()
    delays_seconds = serializers.ListField(child=serializers.FloatField())
    is_heeded = serializers.BooleanField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class DelayFindingSerializer(serializers.Serializer[Any]):
    """Something that keeps delayed messages from coming back."""

    broker = serializers.CharField()
    sentence = serializers.CharField()
    cure = serializers.CharField()
    facts = serializers.DictField()
    since = serializers.DateTimeField(allow_null=True)
    grep = serializers.CharField(allow_null=True, help_text="What to look for in the broker's log")
