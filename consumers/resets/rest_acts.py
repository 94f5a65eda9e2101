"""POST resets/{id}/apply/, resume/, restore/ and cancel/. The work itself is the general worker's."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.jobs.permissions import check
from consumers.models import Reset
from consumers.rest.requests import NothingSerializer, Strict, body_of
from consumers.rest.schema import acted

from .acts import apply, cancel, restore, resume
from .request import LONGEST_REASON, MAY_RESET
from .rest import (
    MayReset,
    Name,
    WholeReset,
    asker_of,
    found_reset,
    plan_answer,
    reset_answer,
)
from .tasks import enqueue


class ConfirmResetSerializer(Strict):
    confirm = Name(help_text="The group's name")


class RestoreSerializer(Strict):
    reason = serializers.CharField(max_length=LONGEST_REASON)
    clip = serializers.BooleanField(default=False, help_text="Where messages from before have expired, the first kept")


class ActView(APIView):
    permission_classes = [IsAuthenticated, MayReset]


class ApplyResetView(ActView):
    @acted("apply_reset", ConfirmResetSerializer, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Applies a plan. It stops, with nothing changed, where the group has moved on too far since."""
        return _confirmed(request, reset, apply)


class ResumeResetView(ActView):
    @acted("resume_reset", ConfirmResetSerializer, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Goes on with the queues that a reset which ended half-way has not moved."""
        return _confirmed(request, reset, resume)


class RestoreResetView(ActView):
    @acted("restore_reset", RestoreSerializer, WholeReset, status.HTTP_201_CREATED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Plans the way back to the offsets from before. It is applied as any other plan."""
        found = _permitted(request, reset)
        body = body_of(RestoreSerializer, request)
        made = restore(found, asker_of(request), body["reason"], timezone.now(), clip=body["clip"])
        return plan_answer(request, made)


class CancelResetView(ActView):
    @acted("cancel_reset", None, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Cancels a plan, or a reset that is being applied and has not yet changed any broker."""
        found = _permitted(request, reset)
        body_of(NothingSerializer, request)
        cancel(found, asker_of(request), timezone.now())
        return reset_answer(request, reset, status.HTTP_202_ACCEPTED)


def _permitted(request: Request, reset: UUID) -> Reset:
    """Raises NotFound; PermissionDenied where whoever asks may not reset offsets of its cluster."""
    found = found_reset(reset)
    check(request.user, MAY_RESET, found.cluster_name)
    return found


def _confirmed(request: Request, reset: UUID, act: Any) -> Response:
    found = _permitted(request, reset)
    confirm = body_of(ConfirmResetSerializer, request)["confirm"]
    act(found, asker_of(request), confirm, timezone.now())
    # Where Redis is down, beat hands it over in its turn.
    enqueue(found.pk)
    return reset_answer(request, reset, status.HTTP_202_ACCEPTED)
