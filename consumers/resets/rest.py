"""Offset resets: lists, one reset, its queues, and CSV; what a request may say of a reset that is wanted, and its plan,
which the general worker makes while the request waits for it a while. Everybody may look, not everybody may plan.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.jobs.asking import RedisDown
from consumers.jobs.permissions import check
from consumers.models import Reset, ResetKind, ResetOutcome, ResetStatus, ResetStep
from consumers.queries.declared import URL, answer, public
from consumers.resets.reset_targets import OFFERED
from consumers.resets.target_values import MOST_QUEUES, Asker, QueueKey, ResetRequest
from consumers.rest.access import MayChange
from consumers.rest.answers import ListedRows, csv_response, described_csv, list_response, object_response
from consumers.rest.problems import NotNow, Refused, found_group
from consumers.rest.requests import (
    PAGE,
    RANGE,
    Choice,
    Exported,
    OneKind,
    Paging,
    Parameters,
    Ranged,
    Strict,
    body_of,
    taken,
)
from consumers.rest.schema import acted, described
from consumers.vocabulary.reasons import reason_codes
from consumers.vocabulary.resets import RowReason
from consumers.words.reasons import coded_reason, stored_words

from .acts import why_not_restored
from .offset_csv import group_offsets_csv, offsets_in, queues_csv, resets_csv
from .queries import ResetFilters, find_reset, reset_events, reset_list, shortened
from .request import (
    LONGEST_REASON,
    MAY_RESET,
    request_plan,
    why_not_applied,
    why_not_cancelled,
    why_not_resumed,
)
from .rows import ResetEventRow, ResetQueueRow, ResetRow, reset_queues
from .tasks import enqueue_plan

# A reset as an answer, whole: the plan, what became of it, and what whoever asks may do with it.


class MayReset(MayChange):
    permission = MAY_RESET


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
        enqueue_plan(reset.pk)
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


# Offset resets: GET and POST resets/, GET resets/{id}/ and its queues/. Everybody may look, not everybody plan.
class ResetParameters(Paging, Ranged):
    """`from` and `to`: when it was planned."""

    cluster = serializers.CharField(required=False)
    group = serializers.CharField(required=False)
    status = Choice(ResetStatus.values, required=False)
    kind = Choice(ResetKind.values, required=False)
    by = serializers.CharField(required=False, help_text="Who planned or applied it")


class ResetListView(APIView):
    permission_classes = [IsAuthenticated, MayReset]

    @described("resets", ResetRow, parameters=ResetParameters, paged=True)
    def get(self, request: Request) -> HttpResponseBase:
        """Resets of all groups, the newest first, with their sums; also of groups that are gone.

        Lists of more than a hundred queues are left to the resets themselves.
        """
        values = ResetParameters.of(request)
        paging, now = taken(values, *PAGE), timezone.now()
        filters = ResetFilters(**{RANGE.get(name, name): value for name, value in values.items()})

        def find(page: int, page_size: int) -> ListedRows:
            rows, count = reset_list(now, filters, page=page, page_size=page_size)
            return ListedRows(list(map(shortened, rows)), count)

        return list_response(request, ResetRow, find, **paging)

    @acted("plan_reset", ResetRequestSerializer, WholeReset, 201)
    def post(self, request: Request) -> Response:
        """Plans a reset: what would be moved, from where to where. Nothing is changed until it is applied.

        The brokers are asked first. Where that takes longer than some seconds the answer says `planning`: ask again.
        """
        body = body_of(ResetRequestSerializer, request)
        cluster, group = body["cluster"], body["group"]
        found_group(cluster, group)
        check(request.user, MAY_RESET, cluster)
        made = request_plan(cluster, group, reset_request_of(body), asker_of(request), timezone.now())
        return plan_answer(request, made)


class ResetView(APIView):
    @described("reset", WholeReset)
    def get(self, request: Request, reset: UUID) -> Response:
        """A reset: what was planned, how it goes or went, queue by queue, and who did what with it."""
        Parameters.of(request)
        return reset_answer(request, reset, status.HTTP_200_OK)


class ResetQueueParameters(Paging):
    outcome = Choice(ResetOutcome.values, required=False)
    step = Choice(ResetStep.values, required=False)
    left_out = serializers.BooleanField(required=False, help_text="true: only those that are not touched")


class ResetQueueListView(APIView):
    @described("reset_queues", ResetQueueRow, parameters=ResetQueueParameters, paged=True)
    def get(self, request: Request, reset: UUID) -> HttpResponseBase:
        """The queues of a reset, those with trouble first."""
        values = ResetQueueParameters.of(request)
        paging, found = taken(values, *PAGE), found_reset(reset)
        return list_response(
            request,
            ResetQueueRow,
            lambda page, size: ListedRows(*reset_queues(found.pk, page=page, page_size=size, **values)),
            **paging,
        )


# Resets and offsets as CSV: GET resets/export/, resets/{id}/export/ and groups/{cluster}/{group}/offsets/export/.
class AuditParameters(ResetParameters):
    shape = ()
    page = None  # type: ignore[assignment]
    page_size = None  # type: ignore[assignment]


class ExportView(APIView):
    content_negotiation_class = OneKind


class AuditExportView(ExportView):
    @described_csv("resets_export", AuditParameters)
    def get(self, request: Request) -> StreamingHttpResponse:
        """All resets as CSV, the newest first, each with all that was done with it: the audit."""
        filters = {RANGE.get(name, name): value for name, value in AuditParameters.of(request).items()}
        return csv_response(resets_csv(timezone.now(), ResetFilters(**filters)), "resets")


class ResetExportView(ExportView):
    @described_csv("reset_export")
    def get(self, request: Request, reset: UUID) -> StreamingHttpResponse:
        """The queues of a reset as CSV: what was planned, done and read back of each."""
        Exported.of(request)
        found = found_reset(reset)
        return csv_response(queues_csv(found.pk), f"reset-{found.cluster_name}-{found.group_name}-{found.pk}")


class OffsetExportView(ExportView):
    @described_csv("group_offsets_export")
    def get(self, request: Request, cluster: str, group: str) -> StreamingHttpResponse:
        """Where a group stood at the newest reading, as CSV: the target of a reset may be made of it."""
        Exported.of(request)
        found = found_group(cluster, group)
        return csv_response(group_offsets_csv(found, timezone.now()), f"offsets-{cluster}-{group}")
