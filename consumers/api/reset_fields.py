"""What a reset, its queues and its acts look like over REST."""

from typing import Any

from rest_framework import serializers

from consumers.models import ResetKind, ResetMethod, ResetOutcome, ResetStatus, ResetStep

OUTCOMES = [(outcome.value, outcome.label) for outcome in ResetOutcome]


class SeenBrokerSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.CharField(allow_null=True)
    server_side = serializers.BooleanField(allow_null=True, help_text="It moves offsets itself")
    permission = serializers.IntegerField(allow_null=True, help_text="A sum of 4 (read) and 2 (write)")
    unknown = serializers.DictField(child=serializers.CharField())


class SeenGroupSerializer(serializers.Serializer[Any]):
    """The group as the plan saw it."""

    members = serializers.ListField(child=serializers.CharField(), allow_null=True, help_text="Client ids")
    orderly = serializers.BooleanField(allow_null=True)
    message_model = serializers.CharField(allow_null=True)
    consume_type = serializers.CharField(allow_null=True)
    brokers = SeenBrokerSerializer(many=True)
    unknown = serializers.DictField(child=serializers.CharField())


class ResetTotalsSerializer(serializers.Serializer[Any]):
    """Sums over the queues of a reset. One that some queue does not give is null; `…_at_least` is what is known."""

    queues = serializers.IntegerField(help_text="Chosen")
    left_out = serializers.IntegerField(help_text="Of them are not touched")
    standing = serializers.IntegerField(help_text="Of them are at their target already")
    moving = serializers.IntegerField(help_text="Of them are to be moved: the rest")
    done = serializers.IntegerField(help_text="Of those to be moved are over with, well or not")
    clipped = serializers.IntegerField(help_text="Their targets were moved to the nearer end of the queue")
    restorable = serializers.IntegerField()
    not_restorable = serializers.IntegerField(help_text="To be moved, and without an offset to return to")
    replayed_messages = serializers.IntegerField(allow_null=True)
    replayed_messages_at_least = serializers.IntegerField(allow_null=True)
    skipped_messages = serializers.IntegerField(allow_null=True)
    skipped_messages_at_least = serializers.IntegerField(allow_null=True)
    replayed_in_fact = serializers.IntegerField(
        allow_null=True, help_text="Of the confirmed queues, from where each stood right before it was written"
    )
    skipped_in_fact = serializers.IntegerField(allow_null=True)
    earliest_target_time = serializers.DateTimeField(allow_null=True)
    latest_target_time = serializers.DateTimeField(allow_null=True)
    queues_with_target_time = serializers.IntegerField(help_text="Of so many queues the message at the target was read")
    methods = serializers.DictField(child=serializers.IntegerField(), help_text="{method: queues}")
    steps = serializers.DictField(child=serializers.IntegerField(), help_text="{step: queues}")
    outcomes = serializers.DictField(child=serializers.IntegerField(), help_text="{outcome: queues}")
    unknown = serializers.DictField(child=serializers.CharField())


class ResetSerializer(serializers.Serializer[Any]):
    """An offset reset. What is not known, or is not yet, is null: `unknown` says why."""

    id = serializers.UUIDField()
    cluster = serializers.CharField()
    group = serializers.CharField()
    status = serializers.ChoiceField(ResetStatus.choices)
    kind = serializers.ChoiceField(ResetKind.choices)
    value = serializers.JSONField(allow_null=True, help_text="What `kind` wants to know")
    topics = serializers.ListField(child=serializers.CharField(), allow_null=True)
    brokers = serializers.ListField(child=serializers.CharField(), allow_null=True)
    chosen_queues = serializers.ListField(
        child=serializers.DictField(), allow_null=True, help_text="[{topic, broker, queue_id}]"
    )
    clip = serializers.BooleanField(help_text="Targets outside min..max are moved to the nearer end")
    by = serializers.CharField(help_text="Who planned it")
    reason = serializers.CharField()
    applied_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    planned_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True, help_text="A plan that is not applied by then is void")
    started_at = serializers.DateTimeField(allow_null=True)
    working_at = serializers.DateTimeField(allow_null=True, help_text="When its worker was last seen to work on it")
    finished_at = serializers.DateTimeField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True, help_text="Since it was started, to its end")
    restores = serializers.UUIDField(allow_null=True, help_text="The reset that it undoes")
    restored_by = serializers.ListField(child=serializers.UUIDField(), help_text="The resets that undo it")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="What will happen, and to whom")
    moved = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="What had moved since the plan, so that it stopped"
    )
    error = serializers.CharField(allow_null=True)
    seen = SeenGroupSerializer(allow_null=True)
    totals = ResetTotalsSerializer(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class OffsetReadingSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    offset = serializers.IntegerField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class ResetQueueSerializer(serializers.Serializer[Any]):
    """One queue: what the plan says of it, and what became of it."""

    topic = serializers.CharField()
    broker = serializers.CharField()
    queue_id = serializers.IntegerField()
    min_offset = serializers.IntegerField(allow_null=True)
    max_offset = serializers.IntegerField(allow_null=True)
    now = serializers.IntegerField(allow_null=True, help_text="Where it stood at the plan")
    wanted = serializers.IntegerField(allow_null=True, help_text="The target before it was clipped")
    target = serializers.IntegerField(allow_null=True)
    clipped = serializers.BooleanField()
    target_time = serializers.DateTimeField(
        allow_null=True, help_text="When the first message that will be consumed was stored"
    )
    replayed_messages = serializers.IntegerField(allow_null=True)
    skipped_messages = serializers.IntegerField(allow_null=True)
    restorable = serializers.BooleanField(help_text="false: it had no offset to return to")
    method = serializers.ChoiceField(ResetMethod.choices, allow_null=True)
    left_out = serializers.CharField(allow_null=True, help_text="Why it is not touched")
    step = serializers.ChoiceField(ResetStep.choices)
    before = serializers.IntegerField(allow_null=True, help_text="Where it stood right before it was written")
    before_at = serializers.DateTimeField(allow_null=True)
    written_at = serializers.DateTimeField(allow_null=True)
    answered = serializers.IntegerField(allow_null=True, help_text="The offset that the broker's answer named")
    error = serializers.CharField(allow_null=True)
    readings = OffsetReadingSerializer(many=True, help_text="Read back: each that differs from the one before")
    after = serializers.IntegerField(allow_null=True)
    after_at = serializers.DateTimeField(allow_null=True)
    outcome = serializers.ChoiceField(OUTCOMES, allow_null=True)
    evidence = serializers.CharField(allow_null=True)
    unknown = serializers.DictField(child=serializers.CharField())


class ResetEventSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    by = serializers.CharField(allow_null=True)
    address = serializers.CharField(allow_null=True, help_text="Where the request came from")
    via = serializers.CharField(help_text="page, rest or worker")
    sentence = serializers.CharField()
    unknown = serializers.DictField(child=serializers.CharField())


class ActsSerializer(serializers.Serializer[Any]):
    """What may be done with it, by whoever asks, at this moment: null, or the sentence why not."""

    apply = serializers.CharField(allow_null=True)
    resume = serializers.CharField(allow_null=True)
    restore = serializers.CharField(allow_null=True)
    cancel = serializers.CharField(allow_null=True)


class WholeResetSerializer(ResetSerializer):
    acts = ActsSerializer()
    queues = ResetQueueSerializer(many=True, allow_null=True, help_text="null where there are more than 1,000")
    queues_url = serializers.URLField(help_text="All of them, in pages")
    events = ResetEventSerializer(many=True, help_text="Who did what with it, in order")
