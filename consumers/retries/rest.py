"""GET groups/{cluster}/{group}/retries/"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.models import ConsumerGroup
from consumers.pipeline.upkeep import STEPS
from consumers.queries.declared import answer, public
from consumers.queries.findings import FindingRow, detected_row
from consumers.rest.access import charge
from consumers.rest.answers import object_response
from consumers.rest.problems import group_missing
from consumers.rest.requests import Moment, Parameters
from consumers.rest.schema import described, made_serializer, read_serializer
from consumers.retries.blocked import blocked_queues
from consumers.retries.blocked_rows import BlockedQueue
from consumers.retries.checks.condition_rows import Condition
from consumers.retries.checks.failing import conditions_of
from consumers.retries.ladder import ladder_of
from consumers.retries.ladder_rows import (
    DueRetries,
    Ladder,
    LadderRung,
    LastAttempts,
    RetryPolicyRow,
    WheelCount,
)
from consumers.retries.volumes import VolumeTotals, VolumeWindow, volumes_of

HOUR = timedelta(hours=1)
NOT_POLLED = gettext_lazy("not based on a poll")


class RetryParameters(Parameters):
    since = "ISO 8601; default: an hour before `to`"
    to = Moment(required=False, help_text="ISO 8601; default: now")


class KnownNumbers(serializers.DictField):
    """What is not known is left out."""

    def to_representation(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return super().to_representation({name: number for name, number in value.items() if number is not None})


class ConditionSerializer(read_serializer(Condition)):  # type: ignore[misc]
    unknown = serializers.SerializerMethodField()

    def get_unknown(self, condition: Condition) -> dict[str, str]:
        why = condition.unknown_reason
        reasons = {"ok": why or gettext("no reason was recorded"), "as_of": why or str(NOT_POLLED)}
        return {name: reason for name, reason in reasons.items() if getattr(condition, name) is None}


@answer("Every window of the range is present; an unknown value is null, with the reason in `unknown`.")
@dataclass(frozen=True, kw_only=True)
class Retries:
    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    step_seconds: int = field(metadata=public(of=STEPS))
    totals: VolumeTotals
    windows: Sequence[VolumeWindow]
    ladder: Sequence[LadderRung] = field(
        metadata=public("Empty, with a reason, while no broker has reported its delay levels")
    )
    ladder_read_at: datetime | None
    waiting: Ladder
    last_attempts: LastAttempts
    due: DueRetries
    wheel: WheelCount
    policy: RetryPolicyRow | None = field(metadata=public("Null: no broker configures one"))
    delay_findings: Sequence[FindingRow]
    blocked: Sequence[BlockedQueue]
    conditions: Sequence[Condition]
    unknown: dict[str, str]


EVIDENCE = "The evidence as numbers; missing values are left out"
KNOWN = "The known part of each, where there is one"
RetriesSerializer = made_serializer(
    Retries,
    totals=made_serializer(
        VolumeTotals, at_least=KnownNumbers(child=serializers.IntegerField(), read_only=True, help_text=KNOWN)
    )(),
    due=made_serializer(
        DueRetries,
        unknown_reason=serializers.CharField(allow_null=True, read_only=True, help_text="Why lag_messages is null"),
    )(),
    blocked=made_serializer(BlockedQueue, facts=KnownNumbers(read_only=True, help_text=EVIDENCE))(many=True),
    conditions=ConditionSerializer(many=True),
)


class RetriesView(APIView):
    @described("group_retries", RetriesSerializer, parameters=RetryParameters)
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Volumes over time, what waits on which delay level, blocked queues, and whether retries can work."""
        values, now = RetryParameters.of(request), timezone.now()
        until = values.get("to", now)
        since = values.get("from", until - HOUR)
        try:
            volumes = volumes_of(cluster, group, since, until, now)
        except ConsumerGroup.DoesNotExist:
            raise group_missing(cluster, group) from None
        charge(request, points=len(volumes.windows))
        ladder = ladder_of(cluster, group, now)
        unknown = {"ladder": ladder.unknown["rungs"]} if not ladder.rungs else {}
        unknown |= {} if ladder.read_at else {"ladder_read_at": ladder.unknown["read_at"]}
        unknown |= {} if ladder.policy else {"policy": ladder.unknown["policy"]}
        report = Retries(
            since=volumes.since,
            until=volumes.until,
            step_seconds=volumes.step_seconds,
            totals=volumes.totals,
            windows=volumes.windows,
            ladder=ladder.rungs,
            ladder_read_at=ladder.read_at,
            waiting=ladder,
            last_attempts=ladder.last_attempts,
            due=ladder.due,
            wheel=ladder.wheel,
            policy=ladder.policy,
            delay_findings=[detected_row(one, cluster, now) for one in ladder.findings],
            blocked=blocked_queues(cluster, group, now),
            conditions=conditions_of(cluster, group, now),
            unknown=unknown,
        )
        return object_response(request, RetriesSerializer, report)
