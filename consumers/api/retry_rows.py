"""What GET groups/{cluster}/{group}/retries/ says of one rung, blocked queue or condition."""

from typing import Any

from rest_framework import serializers

from consumers.selectors.retries.blocked_rows import BlockedKind, BlockedQueue
from consumers.selectors.retries.condition_rows import Condition, ConditionName, Severity

NO_READING = "it leans on no reading"


class SampledSerializer(serializers.Serializer[Any]):
    """Of `of` messages that waited `looked_at` were looked into: `messages` are of the group.

    Both times are null where none is of the group.
    """

    messages = serializers.IntegerField()
    looked_at = serializers.IntegerField()
    of = serializers.IntegerField()
    attempts = serializers.DictField(child=serializers.IntegerField(), help_text="{retry that they wait for: messages}")
    oldest_waiting_at = serializers.DateTimeField(allow_null=True)
    next_due_at = serializers.DateTimeField(allow_null=True)
    sampled_at = serializers.DateTimeField()


class RungSerializer(serializers.Serializer[Any]):
    level = serializers.IntegerField()
    retry = serializers.IntegerField(allow_null=True, help_text="Which retry waits here by default")
    delay_seconds = serializers.FloatField(allow_null=True)
    broker_backlog = serializers.IntegerField(allow_null=True, help_text="Messages of all groups on all brokers")
    sampled = SampledSerializer(allow_null=True)
    overdue_seconds = serializers.FloatField(
        allow_null=True, help_text="How late the first of them is, at least; 0 where none is"
    )
    unknown = serializers.DictField(child=serializers.CharField())


class HeadSerializer(serializers.Serializer[Any]):
    message_id = serializers.CharField()
    origin_topic = serializers.CharField(allow_null=True, help_text="Null where it is no retried message")
    keys = serializers.CharField(allow_null=True)
    tags = serializers.CharField(allow_null=True)
    reconsume_times = serializers.IntegerField(help_text="Through the broker: tries on the spot are not stored")
    size = serializers.IntegerField(help_text="Bytes of the stored body")
    born_at = serializers.DateTimeField()
    stored_at = serializers.DateTimeField()


class BlockedSerializer(serializers.Serializer[Any]):
    topic = serializers.CharField()
    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    offset = serializers.IntegerField(help_text="Of the oldest message that the member holds and has not finished")
    kind = serializers.ChoiceField([kind.value for kind in BlockedKind])
    since = serializers.DateTimeField()
    seconds = serializers.FloatField()
    member = serializers.CharField(source="client_id", help_text="Its client id")
    address = serializers.CharField(allow_null=True)
    message = HeadSerializer(allow_null=True)
    finished_out_of_order = serializers.IntegerField(allow_null=True, help_text="At most so many")
    behind = serializers.IntegerField(allow_null=True, help_text="Messages that wait behind it")
    told_at = serializers.DateTimeField(help_text="When the member was last heard")
    sentence = serializers.CharField()
    evidence = serializers.ListField(child=serializers.CharField())
    facts = serializers.SerializerMethodField(help_text="The evidence as numbers; what was not told is left out")
    unknown = serializers.DictField(child=serializers.CharField())

    def get_facts(self, queue: BlockedQueue) -> dict[str, Any]:
        return {name: fact for name, fact in queue.facts.items() if fact is not None}


class ConditionSerializer(serializers.Serializer[Any]):
    """A claim that must hold for failed messages to come back. `ok` null: not known."""

    name = serializers.ChoiceField([name.value for name in ConditionName])
    ok = serializers.BooleanField(allow_null=True)
    severity = serializers.ChoiceField([severity.value for severity in Severity], help_text="Where it does not hold")
    detail = serializers.CharField()
    cure = serializers.CharField(help_text="What to do where it does not hold")
    brokers = serializers.ListField(child=serializers.CharField(), help_text="On which it does not hold")
    as_of = serializers.DateTimeField(allow_null=True, help_text="The oldest of the facts that it leans on")
    unknown = serializers.SerializerMethodField()

    def get_unknown(self, condition: Condition) -> dict[str, str]:
        why = condition.unknown_reason
        reasons = {"ok": why or "no reason was recorded", "as_of": why or NO_READING}
        return {name: reason for name, reason in reasons.items() if getattr(condition, name) is None}
