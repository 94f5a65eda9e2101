"""What a request may say of a reset that is wanted, or of what is to be done with one. Anything else is refused."""

from typing import Any

from rest_framework import serializers

from consumers.models import ResetKind
from consumers.resets.offset_list import MOST_QUEUES
from consumers.resets.request import LONGEST_REASON

from .bodies import Strict

CSV = "csv"
# A restore is asked of the reset that it undoes.
KINDS = [kind.value for kind in ResetKind if kind != ResetKind.RESTORE] + [CSV]


class Name(serializers.CharField):
    """Exactly as RocketMQ writes it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)


class TargetSerializer(Strict):
    kind = serializers.ChoiceField(KINDS)
    value = serializers.JSONField(
        default=None,
        allow_null=True,
        help_text=(
            "earliest, latest: none; time, moment: ISO 8601 with its zone; offset, shift: a number; "
            "skip_older: seconds; copy: the name of a group; offsets: [{topic, broker, queue_id, offset}]; "
            "csv: text with these columns"
        ),
    )


class ChosenQueueSerializer(Strict):
    topic = Name()
    broker = Name()
    queue_id = serializers.IntegerField(min_value=0, max_value=MOST_QUEUES - 1)


class ResetWishSerializer(Strict):
    """What is not given is all: the group's own topics, every broker, every queue of them."""

    cluster = Name()
    group = Name()
    target = TargetSerializer()
    topics = serializers.ListField(child=Name(), allow_empty=False, required=False)
    brokers = serializers.ListField(child=Name(), allow_empty=False, required=False)
    queues = ChosenQueueSerializer(many=True, allow_empty=False, required=False)
    clip = serializers.BooleanField(default=False)
    reason = serializers.CharField(max_length=LONGEST_REASON)


class ConfirmResetSerializer(Strict):
    confirm = Name(help_text="The group's name")


class RestoreSerializer(Strict):
    reason = serializers.CharField(max_length=LONGEST_REASON)
    clip = serializers.BooleanField(default=False, help_text="Where messages from before have expired, the first kept")
