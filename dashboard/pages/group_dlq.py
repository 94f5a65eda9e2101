"""Dead-letter messages of a group: the list, one message, and export."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from consumers.dead_letters.export_stream import ExportFailed, ExportFormat, ExportWanted
from consumers.dead_letters.filters import (
    DeadLetterFilters,
    WrongFilter,
    all_filters_of,
    filters_of,
    query_of,
    words_of,
)
from consumers.dead_letters.index import RequestedPass, requested_pass
from consumers.dead_letters.inspection import MAY_SEE, Inspection, InspectionKey, MessagePlace, answer_of, note_seen
from consumers.dead_letters.listing import (
    DeadLetterPage,
    DeadLetterRow,
    completeness,
    dead_letter_list,
    letter_at,
)
from consumers.dead_letters.resend.run import MAY_RESEND
from consumers.dead_letters.rest import export_response
from consumers.dead_letters.tasks import ask_for_dead_letters, ask_inspection
from consumers.groups.detail import group_head
from consumers.jobs.asking import PATIENCE, RedisDown
from consumers.jobs.permissions import check, may, why_not
from consumers.models import ConsumerGroup
from consumers.rocketmq.messages.bodies import BodyKind, laid_out
from dashboard.pages.common.awaited import AwaitedAnswer, awaited_answer
from dashboard.pages.common.frame import Frame, context, frame_of, group_or_404, page, part, tabs
from dashboard.pages.common.list_pages import page_links, page_number
from dashboard.pages.site.problems import UnknownFilter, WrongQuery
from dashboard.pages.site.refusals import wrong

# The dead letters of a group: those that the filters choose, newest first, and what can be done with them.
#
# The list stands still while letters are chosen in it; what is known of it, and a look that was asked for, refresh.
ROWS = 50


@dataclass(frozen=True)
class Line:
    letter: DeadLetterRow
    href: str


@page
def dlq(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = group_or_404(cluster, group)
    frame = frame_of(request, timezone.now())
    return render(request, "dead_letters/group_dlq.html", {**_known(frame, found), **_listed(frame, found)})


@part
def dlq_part(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    shown = _known(frame_of(request, timezone.now()), group_or_404(cluster, group))
    return render(request, "dead_letters/group_dlq_part.html", {**shown, "is_refresh": True})


@require_POST
@login_required
def dlq_read(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Requests a pass over the DLQ and shows the list again, with the progress of the pass."""
    found = group_or_404(cluster, group)
    frame = frame_of(request, timezone.now())
    try:
        ask_for_dead_letters(found, frame.now)
    except RedisDown as down:
        shown = {**_known(frame, found), **_listed(frame, found), "asked_sentence": str(down)}
        return render(request, "dead_letters/group_dlq.html", shown, status=503)
    query = request.GET.copy()
    query["asked"] = "1"
    return HttpResponseRedirect(f"{frame.to('group_dlq', cluster, group).partition('?')[0]}?{query.urlencode()}")


def _known(frame: Frame, group: ConsumerGroup) -> dict[str, Any]:
    """How complete the list is, and whether the look that was asked for is done."""
    asked: RequestedPass | None = None
    sentence = ""
    if "asked" in frame.request.GET:
        try:
            asked = requested_pass(group)
        except RedisDown as down:
            sentence = str(down)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, group.cluster.name, group.name),
        completeness=completeness(group),
        asked=asked,
        is_late=asked is not None and asked.is_late(frame.now),
        patience_seconds=int(PATIENCE.total_seconds()),
        asked_sentence=sentence,
        every=2 if asked is not None and asked.done_at is None else 5,
        anew=frame.here(),
    )


def _listed(frame: Frame, group: ConsumerGroup) -> dict[str, Any]:
    filters, place = _filters(frame), (group.cluster.name, group.name)
    number = page_number(frame.request)
    found = dead_letter_list(group, filters, page=number, page_size=ROWS)
    if number > found.pages:
        found = dead_letter_list(group, filters, page=found.pages, page_size=ROWS)
    user = frame.request.user
    return {
        "found": found,
        "lines": [Line(row, _message(frame, place, row)) for row in found.rows],
        "said": words_of(filters),
        "query": query_of(filters),
        "is_filtered": filters != DeadLetterFilters(),
        "every_letter": frame.to("group_dlq", *place),
        "exports": _exports(filters, may(user, MAY_SEE, place[0])),
        "why_not_resent": why_not(user, MAY_RESEND, place[0]),
        **_paging(frame, found),
    }


def _paging(frame: Frame, found: DeadLetterPage) -> dict[str, Any]:
    first = (found.page - 1) * ROWS
    links = page_links(frame, found.page, found.pages)
    return {"links": links, "first": first + 1, "last": first + len(found.rows)}


def _filters(frame: Frame) -> DeadLetterFilters:
    try:
        return filters_of(frame.request.GET.dict())
    except WrongFilter as wrong:
        raise WrongQuery(str(wrong)) from None


def _message(frame: Frame, place: tuple[str, str], row: DeadLetterRow) -> str:
    return frame.to("dlq_message", *place, row.broker, str(row.queue_id), str(row.offset))


def _exports(filters: DeadLetterFilters, may_see: bool) -> list[tuple[str, str]]:
    """What it is called, and the query of its address: bodies are for those who may see them."""
    kinds = [("csv", "0", _("CSV")), ("jsonl", "0", _("JSON lines"))]
    if may_see:
        kinds += [("csv", "1", _("CSV with bodies")), ("jsonl", "1", _("JSON lines with bodies"))]
    query = words_of(filters)
    return [(label, urlencode({**query, "format": kind, "bodies": bodies})) for kind, bodies, label in kinds]


# One dead letter: what its row says at once, and what the general worker finds when it looks at it.
#
# The page asks for the look, and a part of it asks for the answer until there is one. The body and the producer's own
# properties are for those who may see them; the answer to anyone else does not hold them.
BODY_ASKED = "Asked to see the body of the dead letter."
MESSAGE_ASKED = "Asked to see the body of a message."


InspectionView = AwaitedAnswer[Inspection]


@page
def dlq_message(
    request: HttpRequest, cluster: str, group: str, broker: str, queue_id: int, offset: int, topic: str | None = None
) -> HttpResponse:
    """With a `topic` that the group consumes, a message of one of its queues: as the one that blocks it."""
    place, now = MessagePlace(cluster, group, broker, queue_id, offset, topic), timezone.now()
    token = request.GET.get("look")
    frame, message = frame_of(request, now), _letter_or_404(place)
    view = _answer(request, place, token, now) if token else _ask(request, place, now)
    shown = _shown(frame, place, message, view) | {"tabs": tabs(frame, cluster, group)}
    return render(request, "dead_letters/dlq_message.html", shown, status=view.status)


@part
def dlq_message_part(
    request: HttpRequest,
    cluster: str,
    group: str,
    broker: str,
    queue_id: int,
    offset: int,
    look: str,
    topic: str | None = None,
) -> HttpResponse:
    place, now = MessagePlace(cluster, group, broker, queue_id, offset, topic), timezone.now()
    view = _answer(request, place, look, now)
    shown = _shown(frame_of(request, now), place, _letter_or_404(place), view)
    return render(request, "dead_letters/dlq_message_part.html", shown)


def _letter_or_404(place: MessagePlace) -> DeadLetterRow | None:
    """None: the list does not have it, or not yet."""
    group = group_or_404(place.cluster, place.group)
    return None if place.topic else letter_at(group, place.broker, place.queue_id, place.offset)


def _ask(request: HttpRequest, place: MessagePlace, now: datetime) -> InspectionView:
    key = InspectionKey.made(_user_id(request), with_content=may(request.user, MAY_SEE, place.cluster))
    try:
        ask_inspection(key, place, now)
    except RedisDown as error:
        return InspectionView(sentence=str(error))
    if key.with_content:
        note_seen(request.user, str(place), MESSAGE_ASKED if place.topic else BODY_ASKED, now)
    return InspectionView(key.token)


def _user_id(request: HttpRequest) -> int:
    assert request.user.pk is not None, "the page wants a login"
    return request.user.pk


def _answer(request: HttpRequest, place: MessagePlace, token: str, now: datetime) -> InspectionView:
    key = InspectionKey(_user_id(request), may(request.user, MAY_SEE, place.cluster), token)
    return awaited_answer(
        token,
        lambda: answer_of(key, place),
        now=now,
        patience=PATIENCE,
        expired=_("This result has expired: results are retained for 2 minutes. Fetch the message again."),
    )


def _text(inspection: Inspection | None) -> str | None:
    """The body as it is shown; of binary ones there is none."""
    body = inspection.body if inspection else None
    if body is None or body.text is None:
        return None
    return laid_out(body.text) if body.kind == BodyKind.JSON else body.text


def _shown(frame: Frame, place: MessagePlace, letter: DeadLetterRow | None, view: InspectionView) -> dict[str, Any]:
    found = view.result.message if view.result else None
    is_other = bool(letter and found and letter.stored_id != found.stored_id)
    missing_role = why_not(frame.request.user, MAY_SEE, place.cluster)
    return context(
        frame,
        place=place,
        letter=letter,
        view=view,
        text=_text(view.result),
        is_other=is_other,
        facts=found if is_other or letter is None else None,
        missing_role=missing_role,
        permission=MAY_SEE,
        again=frame.here(look=None),
        show=frame.here(look=view.token),
        group_href=frame.group(place.cluster, place.group),
        list_href=frame.to("group_dlq", place.cluster, place.group),
        may_resend=may(frame.request.user, MAY_RESEND, place.cluster),
        attempts_href=_attempts(frame, place, letter, may_see=missing_role is None),
    )


def _attempts(frame: Frame, place: MessagePlace, letter: DeadLetterRow | None, *, may_see: bool) -> str | None:
    """Returns the address of the message's attempts. Returns None without the permission, and for a message that is not
    listed."""
    if letter is None or not may_see:
        return None
    topic = {"topic": letter.origin_topic} if letter.origin_topic else {}
    message = letter.message_id or letter.stored_id
    return frame.to("message_attempts", place.cluster, place.group, message=message, **topic)


# Dead letters as a file: what the list's filters choose, of all that the brokers hold.
BODIES = {"": False, "0": False, "1": True}


@require_GET
@never_cache
@login_required
def dlq_export(request: HttpRequest, cluster: str, group: str) -> HttpResponseBase:
    """Not for HEAD: an export costs the worker the same without its lines."""
    group_or_404(cluster, group)
    try:
        wanted = _wanted(request, cluster, group)
    except WrongFilter as error:
        return wrong(request, str(error))
    if wanted.with_bodies:
        check(request.user, MAY_SEE, cluster)
    try:
        return export_response(request.user, wanted)
    except ExportFailed as error:
        return wrong(request, str(error), status=503)


def _wanted(request: HttpRequest, cluster: str, group: str) -> ExportWanted:
    format, bodies = request.GET.get("format", ExportFormat.CSV), request.GET.get("bodies", "")
    if format not in list(ExportFormat):
        raise UnknownFilter("format", format, ExportFormat)
    if bodies not in BODIES:
        raise UnknownFilter("bodies", bodies, ["0", "1"])
    query = {name: text for name, text in request.GET.dict().items() if name not in ("format", "bodies")}
    return ExportWanted(cluster, group, ExportFormat(format), BODIES[bodies], all_filters_of(query))
