"""What a request may say of a reset that is wanted; and its plan, which the general worker makes while the request
waits for it a while."""

import math
import time
from typing import Any

from django.conf import settings
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from consumers.jobs.asking import RedisDown
from consumers.models import Reset, ResetKind, ResetStatus
from consumers.resets.offset_csv import offsets_in
from consumers.resets.request import LONGEST_REASON
from consumers.resets.targets.reset_targets import OFFERED
from consumers.resets.targets.values import MOST_QUEUES, ValueRefused
from consumers.resets.tasks import hand_over_plan
from consumers.resets.wish import QueueKey, Wish
from consumers.rest.problems import NotNow, Refused
from consumers.rest.requests import Strict

from .answers import reset_answer

CSV = "csv"
# A restore is asked of the reset that it undoes.
KINDS = [kind.value for kind in ResetKind if kind in OFFERED] + [CSV]


class Name(serializers.CharField):
    """Exactly as RocketMQ writes it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(trim_whitespace=False, **options)


class TargetSerializer(Strict):
    kind = serializers.ChoiceField(KINDS)
    value = serializers.JSONField(
        default=None,
        allow_null=True,
        help_text="; ".join(
            [*(f"{kind.value}: {one.rest_value}" for kind, one in OFFERED.items()), "csv: text with these columns"]
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


PAUSE_SECONDS = 0.1


def wish_of(values: dict[str, Any]) -> Wish:
    """Raises ValidationError where the CSV text is not one."""
    kind, value = values["target"]["kind"], values["target"]["value"]
    if kind == CSV:
        kind, value = ResetKind.OFFSETS, _listed(value)
    queues = values.get("queues")
    return Wish(
        ResetKind(kind),
        value,
        values["reason"],
        topics=_names(values.get("topics")),
        brokers=_names(values.get("brokers")),
        queues=None if queues is None else tuple(QueueKey(**queue) for queue in queues),
        clip=values["clip"],
    )


def not_valid(refusal: ValueRefused) -> serializers.ValidationError:
    return serializers.ValidationError({"target": str(refusal).split("\n")})


def plan_answer(request: Request, reset: Reset) -> Response:
    """Planned, or still in planning where the worker takes longer. Raises NotNow and Refused."""
    try:
        hand_over_plan(reset.pk)
    except RedisDown as down:
        raise NotNow(str(down), reset=str(reset.pk)) from None
    _wait(reset)
    if reset.status == ResetStatus.REFUSED:
        raise Refused(reset.error or "It was refused.", reset=str(reset.pk))
    return reset_answer(request, reset.pk, status.HTTP_201_CREATED)


def _wait(reset: Reset) -> None:
    for _ in range(1 + math.ceil(settings.RESET_PLAN_WAIT_SECONDS / PAUSE_SECONDS)):
        reset.refresh_from_db()
        if reset.status != ResetStatus.PLANNING:
            return
        time.sleep(PAUSE_SECONDS)


def _listed(text: Any) -> list[dict[str, Any]]:
    if not isinstance(text, str):
        raise serializers.ValidationError({"target": ["The value of csv is its text."]})
    try:
        return offsets_in(text).entries
    except ValueRefused as refusal:
        raise not_valid(refusal) from None


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
