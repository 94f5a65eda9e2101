"""What a request may say of a reset that is wanted; and its plan, which the general worker makes while the request
waits for it a while.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from consumers.jobs.asking import RedisDown
from consumers.models import Reset, ResetKind, ResetStatus
from consumers.queries.declared import URL, answer, public
from consumers.resets.reset_targets import OFFERED
from consumers.resets.target_values import MOST_QUEUES, Asker, QueueKey, ResetRequest
from consumers.rest.access import MayChange
from consumers.rest.answers import object_response
from consumers.rest.problems import NotNow, Refused
from consumers.rest.requests import Strict
from consumers.vocabulary.reasons import reason_codes
from consumers.vocabulary.resets import RowReason
from consumers.words.reasons import coded_reason, stored_words

from .acts import why_not_restored
from .offset_csv import offsets_in
from .queries import find_reset, reset_events
from .request import LONGEST_REASON, MAY_RESET, why_no_role, why_not_applied, why_not_cancelled, why_not_resumed
from .rows import ResetEventRow, ResetQueueRow, ResetRow, reset_queues
from .tasks import hand_over_plan

# A reset as an answer, whole: the plan, what became of it, and what whoever asks may do with it.


class MayReset(MayChange):
    permission = MAY_RESET
    why_not = staticmethod(why_no_role)


def asker_of(request: Request) -> Asker:
    """Behind a proxy the address is what the server in front of the site made of it."""
    return Asker(request.user, request.META.get("REMOTE_ADDR") or None, "rest")


@answer("What may be done with it, by whoever asks, at this moment: null, or the sentence why not.")
@dataclass(frozen=True, kw_only=True)
class Acts:
    apply: str | None
    resume: str | None
    restore: str | None
    cancel: str | None


@dataclass(frozen=True, kw_only=True)
class WholeReset(ResetRow):
    acts: Acts
    queues: Sequence[ResetQueueRow] | None = field(metadata=public("null where there are more than 1,000"))
    queues_url: str = field(metadata=public("All of them, in pages", of=URL))
    events: Sequence[ResetEventRow] = field(metadata=public("Who did what with it, in order"))


# A longer list of queues is only to be had in pages.
QUEUES_INLINE = 1_000


def found_reset(reset_id: UUID) -> Reset:
    """Raises NotFound."""
    found = Reset.objects.select_related("group__cluster").filter(pk=reset_id).first()
    if found is None:
        raise NotFound(f"There is no reset {reset_id}.")
    return found


def reset_answer(request: Request, reset_id: UUID, code: int) -> Response:
    now, reset = timezone.now(), found_reset(reset_id)
    row = find_reset(reset_id, now)
    assert row is not None
    queues, why = None, ""
    if row.totals is None:
        why = row.unknown["totals"]
    elif row.totals.queues > QUEUES_INLINE:
        why = coded_reason(RowReason.MANY_QUEUES, queues=row.totals.queues)
    else:
        queues, _ = reset_queues(reset_id, page=1, page_size=QUEUES_INLINE)
    no_queues = {"queues": why} if queues is None else {}
    whole = WholeReset(
        **vars(row) | {"unknown": row.unknown | no_queues, "codes": row.codes | reason_codes(no_queues)},
        acts=_acts(reset, request.user),
        queues=queues,
        queues_url=request.build_absolute_uri(reverse("api-reset-queues", args=[reset_id])),
        events=reset_events(reset_id),
    )
    return object_response(request, WholeReset, whole, code)


def _acts(reset: Reset, user: Any) -> Acts:
    return Acts(
        apply=why_not_applied(reset, user, timezone.now()),
        resume=why_not_resumed(reset, user, timezone.now()),
        restore=why_not_restored(reset, user),
        cancel=why_not_cancelled(reset, user),
    )


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


class ResetRequestSerializer(Strict):
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


def reset_request_of(values: dict[str, Any]) -> ResetRequest:
    """Raises ValidationError and ValueRefused where the CSV text is not one."""
    kind, value = values["target"]["kind"], values["target"]["value"]
    if kind == CSV:
        kind, value = ResetKind.OFFSETS, _listed(value)
    queues = values.get("queues")
    return ResetRequest(
        ResetKind(kind),
        value,
        values["reason"],
        topics=_names(values.get("topics")),
        brokers=_names(values.get("brokers")),
        queues=None if queues is None else tuple(QueueKey(**queue) for queue in queues),
        clip=values["clip"],
    )


def plan_answer(request: Request, reset: Reset) -> Response:
    """Planned, or still in planning where the worker takes longer. Raises NotNow and Refused."""
    try:
        hand_over_plan(reset.pk)
    except RedisDown as down:
        raise NotNow(str(down), reset=str(reset.pk)) from None
    _wait(reset)
    if reset.status == ResetStatus.REFUSED:
        raise Refused(stored_words(reset.error) or "It was refused.", reset=str(reset.pk))
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
    return offsets_in(text).entries


def _names(names: list[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)
