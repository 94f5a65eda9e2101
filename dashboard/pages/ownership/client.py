"""One client: its groups, queues, consumption and settings; and its threads, on request.

The page asks for a thread dump, and a part of it asks for the answer until there is one. A second dump is compared with
the first: which threads did not move.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from consumers.clients.dumps import (
    DUMP_PATIENCE,
    MAY_DUMP,
    DumpedClient,
    StackGroup,
    ThreadDump,
    ask_dump,
    dump_answer,
    grouped,
    unmoved,
)
from consumers.clients.queries import ClientGroup, client_detail, client_exists
from consumers.jobs.asking import RedisDown
from consumers.jobs.permissions import check, why_not
from dashboard.pages.common.awaited import AwaitedAnswer, awaited_answer
from dashboard.pages.common.frame import Frame, context, frame_of, page, part

# Frames of a stack that are shown before the rest is folded.
SHOWN_FRAMES = 24


@dataclass(frozen=True)
class StackLine:
    """`still`: how many of its threads were in the same place before; null without an earlier dump."""

    group: StackGroup
    still: int | None

    @property
    def names(self) -> list[str]:
        return [thread.name for thread in self.group.threads]

    @property
    def first_frames(self) -> tuple[str, ...]:
        return self.group.frames[:SHOWN_FRAMES]

    @property
    def more_frames(self) -> tuple[str, ...]:
        return self.group.frames[SHOWN_FRAMES:]


def stack_lines(dump: ThreadDump, before: ThreadDump | None) -> list[StackLine]:
    unchanged = None if before is None else unmoved(before.threads, dump.threads)
    return [
        StackLine(one, None if unchanged is None else sum(thread.tid in unchanged for thread in one.threads))
        for one in grouped(dump.threads)
    ]


@page
def client(request: HttpRequest, cluster: str, client: str) -> HttpResponse:
    return render(request, "ownership/client.html", _shown(request, cluster, client))


@part
def client_part(request: HttpRequest, cluster: str, client: str) -> HttpResponse:
    return render(request, "ownership/client_part.html", _shown(request, cluster, client) | {"is_part": True})


@part
def thread_dump_part(request: HttpRequest, cluster: str, client: str) -> HttpResponse:
    """Asked for every second while the dump is awaited: without the client's groups and queues."""
    frame = frame_of(request, timezone.now())
    wanted = _wanted(cluster, client)
    return render(request, "ownership/thread_dump.html", _dump_shown(frame, wanted))


@require_POST
@never_cache
@login_required
def thread_dump(request: HttpRequest, cluster: str, client: str) -> HttpResponse:
    """Requests a dump; the page shows its progress. `before`: the dump that it is compared with."""
    check(request.user, MAY_DUMP, cluster)
    now = timezone.now()
    wanted = _wanted(cluster, client)
    query = {name: request.POST[name] for name in ("cluster", "range", "before") if request.POST.get(name)}
    try:
        query["dump"] = ask_dump(request.user, wanted, now)
    except RedisDown as down:
        shown = _shown(request, cluster, client) | {"view": AwaitedAnswer(sentence=str(down))}
        return render(request, "ownership/client.html", shown, status=503)
    return HttpResponseRedirect(f"{reverse('client', args=(cluster, client))}?{urlencode(query)}#threads")


def _wanted(cluster: str, client: str) -> DumpedClient:
    if not client_exists(cluster, client):
        raise _missing(cluster, client)
    return DumpedClient(cluster, client)


def _missing(cluster: str, client: str) -> Http404:
    return Http404(_("No client “%(client)s” is known on “%(cluster)s”.") % {"client": client, "cluster": cluster})


def _shown(request: HttpRequest, cluster: str, client: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    found = client_detail(cluster, client, now=frame.now)
    if found is None:
        raise _missing(cluster, client)
    groups = [(row, *_links(frame, cluster, row)) for row in found.groups]
    return _dump_shown(frame, DumpedClient(cluster, client)) | {"client": found, "groups": groups}


def _dump_shown(frame: Frame, client: DumpedClient) -> dict[str, Any]:
    missing_role = why_not(frame.request.user, MAY_DUMP, client.cluster)
    view = AwaitedAnswer[ThreadDump]() if missing_role else _view(frame, client, "dump")
    before = _view(frame, client, "before").result if view.result else None
    return context(
        frame,
        client=client,
        missing_role=missing_role,
        view=view,
        lines=stack_lines(view.result, before) if view.result else [],
        apart_seconds=(view.result.at - before.at).total_seconds() if view.result and before else None,
        again=frame.here(dump=None, before=None),
        show=frame.here(),
    )


def _links(frame: Frame, cluster: str, row: ClientGroup) -> tuple[str, str]:
    return frame.to("group", cluster, row.group), frame.to("group_ownership", cluster, row.group)


def _view(frame: Frame, wanted: DumpedClient, name: str) -> AwaitedAnswer[ThreadDump]:
    """The dump that `name` of the address requested."""
    token, user_id = frame.request.GET.get(name), frame.request.user.pk
    if not token or user_id is None:
        return AwaitedAnswer()
    return awaited_answer(
        token,
        lambda: dump_answer(user_id, token, wanted),
        now=frame.now,
        patience=DUMP_PATIENCE,
        expired=_("This thread dump has expired: dumps are retained for 10 minutes."),
    )
