"""The attempts of one message in a group: a form for its ID or key, and what the general worker finds.

The page asks for the look-up, and a part of it asks for the answer until there is one. Looking up needs the permission
to see bodies; no body is shown.
"""

from dataclasses import dataclass
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
from dashboard.pages.common.frame import Frame, context, frame_of, group_or_404, page, part, tabs


@dataclass(frozen=True)
class LookupView:
    """Awaited while it has neither an answer nor a sentence. `token` is null where nothing was asked."""

    token: str | None = None
    found: MessageAttemptsRow | None = None
    sentence: str = ""
    is_gone: bool = False

    @property
    def is_awaited(self) -> bool:
        return self.token is not None and self.found is None and not self.sentence


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
    return render(request, "messages/attempts.html", shown, status=410 if view.is_gone else 200)


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
    if not request.user.has_perm(MAY_SEE):
        return LookupView()
    assert request.user.pk is not None, "the page wants a login"
    try:
        answer = lookup_answer(InspectionKey(request.user.pk, True, token), _wanted(request, group))
    except (LookupRefused, RedisDown) as error:
        return LookupView(token, sentence=str(error))
    if answer is None:
        gone = _("This result has expired: results are retained for 2 minutes. Look it up again.")
        return LookupView(token, sentence=gone, is_gone=True)
    if answer.result is not None:
        return LookupView(token, attempts_of(group, answer.result))
    return LookupView(token, sentence=answer.reason_at(now, PATIENCE) or "")


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
