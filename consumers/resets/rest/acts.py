"""POST resets/{id}/apply/, resume/, restore/ and cancel/. The work itself is the general worker's."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from consumers.resets.acts import apply, cancel, restore, resume
from consumers.resets.tasks import hand_over
from consumers.resets.wish import ResetRefused
from consumers.rest.problems import Refused
from consumers.rest.requests import NothingSerializer, said
from consumers.rest.schema.described import acted

from .answers import MayReset, WholeReset, asker_of, found_reset, reset_answer
from .planning import ConfirmResetSerializer, RestoreSerializer, plan_answer


class ActView(APIView):
    permission_classes = [IsAuthenticated, MayReset]


class ApplyResetView(ActView):
    @acted("apply_reset", ConfirmResetSerializer, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Applies a plan. It stops, with nothing changed, where the group has moved on too far since."""
        return _let_go(request, reset, apply)


class ResumeResetView(ActView):
    @acted("resume_reset", ConfirmResetSerializer, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Goes on with the queues that a reset which ended half-way has not moved."""
        return _let_go(request, reset, resume)


class RestoreResetView(ActView):
    @acted("restore_reset", RestoreSerializer, WholeReset, status.HTTP_201_CREATED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Plans the way back to the offsets from before. It is applied as any other plan."""
        body = said(RestoreSerializer, request)
        try:
            made = restore(found_reset(reset), asker_of(request), body["reason"], timezone.now(), clip=body["clip"])
        except ResetRefused as refusal:
            raise Refused(str(refusal)) from None
        return plan_answer(request, made)


class CancelResetView(ActView):
    @acted("cancel_reset", None, WholeReset, status.HTTP_202_ACCEPTED)
    def post(self, request: Request, reset: UUID) -> Response:
        """Gives up a plan, or a reset that is being applied of which no broker was told anything yet."""
        said(NothingSerializer, request)
        found = found_reset(reset)
        try:
            cancel(found, asker_of(request), timezone.now())
        except ResetRefused as refusal:
            raise Refused(str(refusal)) from None
        return reset_answer(request, reset, status.HTTP_202_ACCEPTED)


def _let_go(request: Request, reset: UUID, act: Any) -> Response:
    confirm = said(ConfirmResetSerializer, request)["confirm"]
    found = found_reset(reset)
    try:
        act(found, asker_of(request), confirm, timezone.now())
    except ResetRefused as refusal:
        raise Refused(str(refusal)) from None
    # Where Redis is down, beat hands it over in its turn.
    hand_over(found.pk)
    return reset_answer(request, reset, status.HTTP_202_ACCEPTED)
