"""One dead letter: what its row says at once, and what the general worker finds when it looks at it.

The page asks for the look, and a part of it asks for the answer until there is one. The body and the producer's own
properties are for those who may see them; the answer to anyone else does not hold them.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.dead_letters.inspection import MAY_SEE, Look, LookKey, MessagePlace, answer_of, note_seen
from consumers.dead_letters.queries.listing import DeadLetterRow, letter_at
from consumers.dead_letters.tasks import ask_look
from consumers.jobs.asking import PATIENCE, RedisDown
from consumers.queries.groups import find_group
from consumers.rocketmq.messages.bodies import BodyKind, laid_out
from dashboard.pages.common.access import page, part
from dashboard.pages.common.frame import Frame, context, frame_of
from dashboard.pages.groups.group_tabs import tabs


@dataclass(frozen=True)
class LookView:
    """Awaited while it has neither a look nor a sentence. `token` is null where nothing could be asked."""

    token: str | None
    look: Look | None = None
    sentence: str = ""
    is_gone: bool = False

    @property
    def is_awaited(self) -> bool:
        return self.look is None and not self.sentence

    @property
    def text(self) -> str | None:
        """The body as it is shown; of binary ones there is none."""
        body = self.look.body if self.look else None
        if body is None or body.text is None:
            return None
        return laid_out(body.text) if body.kind == BodyKind.JSON else body.text


@page
def dlq_message(
    request: HttpRequest, cluster: str, group: str, broker: str, queue_id: int, offset: int
) -> HttpResponse:
    place, now = MessagePlace(cluster, group, broker, queue_id, offset), timezone.now()
    token = request.GET.get("look")
    frame, letter = frame_of(request, now), _letter_or_404(place)
    view = _answer(request, place, token, now) if token else _ask(request, place, now)
    shown = _shown(frame, place, letter, view) | {"tabs": tabs(frame, cluster, group)}
    return render(request, "dead_letters/dlq_message.html", shown, status=410 if view.is_gone else 200)


@part
def dlq_message_part(
    request: HttpRequest, cluster: str, group: str, broker: str, queue_id: int, offset: int, look: str
) -> HttpResponse:
    place, now = MessagePlace(cluster, group, broker, queue_id, offset), timezone.now()
    view = _answer(request, place, look, now)
    shown = _shown(frame_of(request, now), place, _letter_or_404(place), view)
    return render(request, "dead_letters/dlq_message_part.html", shown)


def _letter_or_404(place: MessagePlace) -> DeadLetterRow | None:
    """None: the list does not have it, or not yet."""
    group = find_group(place.cluster, place.group)
    if group is None:
        words = {"group": place.group, "cluster": place.cluster}
        raise Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % words)
    return letter_at(group, place.broker, place.queue_id, place.offset)


def _ask(request: HttpRequest, place: MessagePlace, now: datetime) -> LookView:
    key = LookKey.made(_user_id(request), with_content=request.user.has_perm(MAY_SEE))
    try:
        ask_look(key, place, now)
    except RedisDown as error:
        return LookView(None, sentence=str(error))
    if key.with_content:
        note_seen(request.user, str(place), "Asked to see the body of the dead letter.", now)
    return LookView(key.token)


def _user_id(request: HttpRequest) -> int:
    assert request.user.pk is not None, "the page wants a login"
    return request.user.pk


def _answer(request: HttpRequest, place: MessagePlace, token: str, now: datetime) -> LookView:
    key = LookKey(_user_id(request), request.user.has_perm(MAY_SEE), token)
    try:
        answer = answer_of(key, place)
    except RedisDown as error:
        return LookView(token, sentence=str(error))
    if answer is None:
        return LookView(
            token,
            sentence=_("This result has expired: results are retained for 2 minutes. Fetch the message again."),
            is_gone=True,
        )
    if answer.look is None and answer.reason is None and now - answer.asked_at >= PATIENCE:
        seconds = {"n": round(PATIENCE.total_seconds())}
        return LookView(
            token, sentence=_("The general worker did not answer within %(n)s s. Check that it is running.") % seconds
        )
    return LookView(token, answer.look, answer.reason or "")


def _shown(frame: Frame, place: MessagePlace, letter: DeadLetterRow | None, view: LookView) -> dict[str, Any]:
    found = view.look.message if view.look else None
    is_other = bool(letter and found and letter.stored_id != found.stored_id)
    return context(
        frame,
        place=place,
        letter=letter,
        view=view,
        is_other=is_other,
        facts=found if is_other or letter is None else None,
        may_see=frame.request.user.has_perm(MAY_SEE),
        permission=MAY_SEE,
        again=frame.here(look=None),
        show=frame.here(look=view.token),
        group_href=frame.group(place.cluster, place.group),
        list_href=frame.to("group_dlq", place.cluster, place.group),
    )
