"""The attempts of one message in a group: a form for its ID or key, and what the general worker finds.

The page asks for the look-up, and a part of it asks for the answer until there is one. Looking up needs the permission
to see bodies; no body is shown.
"""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.dead_letters.inspection import MAY_SEE, InspectionKey
from consumers.groups.detail import group_head
from consumers.jobs.asking import PATIENCE, RedisDown
from consumers.messages.queries import message_attempts as attempts_of
from consumers.messages.rows import MessageAttemptsRow
from consumers.messages.tasks import LookupRefused, WantedMessage, ask_lookup, checked, lookup_answer
from consumers.models import ConsumerGroup
from dashboard.pages.common.awaited import AwaitedAnswer, awaited_answer
from dashboard.pages.common.frame import Frame, context, frame_of, group_or_404, page, part, tabs

LookupView = AwaitedAnswer[MessageAttemptsRow]


@page
def message_attempts(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found, now = group_or_404(cluster, group), timezone.now()
    view, token = LookupView(), request.GET.get("look")
    if request.GET.get("message"):
        view = _answer(request, found, token, now) if token else _ask(request, found, now)
    frame = frame_of(request, now)
    shown = _shown(frame, found, view) | {
        "tabs": tabs(frame, cluster, group),
        "group": group_head(found, now=now),
    }
    return render(request, "messages/attempts.html", shown, status=view.status)


@part
def message_attempts_part(request: HttpRequest, cluster: str, group: str, look: str) -> HttpResponse:
    found, now = group_or_404(cluster, group), timezone.now()
    shown = _shown(frame_of(request, now), found, _answer(request, found, look, now))
    return render(request, "messages/attempts_part.html", shown)


def _wanted(request: HttpRequest, group: ConsumerGroup) -> WantedMessage:
    """Raises LookupRefused."""
    text, topic = request.GET.get("message", ""), request.GET.get("topic", "").strip()
    return checked(WantedMessage(group.cluster.name, group.name, text, topic or None))


def _ask(request: HttpRequest, group: ConsumerGroup, now: datetime) -> LookupView:
    if not request.user.has_perm(MAY_SEE):
        return LookupView()
    try:
        return LookupView(ask_lookup(request.user, _wanted(request, group), now).token)
    except (LookupRefused, RedisDown) as error:
        return LookupView(sentence=str(error))


def _answer(request: HttpRequest, group: ConsumerGroup, token: str, now: datetime) -> LookupView:
    user_id = request.user.pk
    if user_id is None or not request.user.has_perm(MAY_SEE):
        return LookupView()
    answer = awaited_answer(
        token,
        lambda: lookup_answer(InspectionKey(user_id, True, token), _wanted(request, group)),
        now=now,
        patience=PATIENCE,
        expired=_("This result has expired: results are retained for 2 minutes. Look it up again."),
    )
    attempts = None if answer.result is None else attempts_of(group, answer.result)
    return LookupView(token, attempts, answer.sentence, answer.is_expired)


def form_context(frame: Frame, cluster: str, group: str) -> dict[str, Any]:
    """What the form needs, on this page and on others."""
    return {
        "place": {"cluster": cluster, "group": group},
        "wanted": frame.request.GET.get("message", "").strip(),
        "topic": frame.request.GET.get("topic", "").strip(),
        "may_see": frame.request.user.has_perm(MAY_SEE),
        "permission": MAY_SEE,
    }


def _shown(frame: Frame, group: ConsumerGroup, view: LookupView) -> dict[str, Any]:
    place = group.cluster.name, group.name
    return context(
        frame,
        **form_context(frame, *place),
        view=view,
        again=frame.here(look=None),
        show=frame.here(look=view.token),
        repeats_href=frame.to("group_repeats", *place),
    )
