"""A plan asked for over REST: the general worker makes it, and the request waits for it a while."""

import math
import time
from typing import Any

from django.conf import settings
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from consumers.errands.redis_client import RedisDown
from consumers.models import Reset, ResetKind, ResetStatus
from consumers.resets.csv_in import offsets_in
from consumers.resets.value_of import ValueRefused
from consumers.resets.wish import QueueKey, Wish
from consumers.tasks.resets import hand_over_plan

from .refusals import NotNow, Refused
from .reset_answers import reset_answer
from .reset_wishes import CSV

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
