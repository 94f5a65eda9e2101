"""Search over groups, topics, members and brokers: a page of hits, the page of a single one, and names as one types."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from consumers.search import Hit, HitKind, search
from dashboard.pages.common.frame import Frame, context, frame_of, page

SUGGESTED, LETTERS = 8, 2
LABELS = {
    HitKind.GROUP: _("Groups"),
    HitKind.TOPIC: _("Topics"),
    HitKind.CLIENT: _("Members"),
    HitKind.BROKER: _("Brokers"),
}


@dataclass(frozen=True)
class HitLine:
    """`href`: its own page. `links`: those of its groups."""

    hit: Hit
    href: str
    links: Sequence[tuple[str, str]] = ()


@page
def search_page(request: HttpRequest) -> HttpResponse:
    """A single hit is opened."""
    frame = frame_of(request, timezone.now())
    found = search(frame.search, frame.cluster)
    if found.only is not None:
        return HttpResponseRedirect(_line(frame, found.only).href)
    shown = context(
        frame,
        text=frame.search.strip(),
        sections=[
            (kind.value, LABELS[kind], [_line(frame, hit) for hit in hits], kind in found.has_more)
            for kind, hits in found.found.items()
            if hits
        ],
        groups_href=f"{frame.to('groups')}{'&' if frame.kept_fields else '?'}{urlencode({'search': frame.search})}",
    )
    return render(request, "search/search.html", shown)


@page
def suggestions(request: HttpRequest) -> HttpResponse:
    """Names for the list under the search field."""
    text = request.GET.get("search", "").strip()
    found = search(text, request.GET.get("cluster") or None, SUGGESTED) if len(text) >= LETTERS else None
    hits = [] if found is None else [hit for hits in found.found.values() for hit in hits]
    return render(request, "search/suggestions.html", {"hits": [(hit, LABELS[hit.kind]) for hit in hits]})


def _line(frame: Frame, hit: Hit) -> HitLine:
    if hit.kind is HitKind.GROUP:
        return HitLine(hit, frame.group(hit.cluster, hit.name))
    if hit.kind is HitKind.BROKER:
        return HitLine(hit, frame.to("clusters", cluster=hit.cluster))
    if hit.kind is HitKind.TOPIC:
        groups = [(group, frame.to("group", hit.cluster, group, topic=hit.name)) for group in hit.groups]
        return HitLine(hit, frame.to("topic", hit.cluster, hit.name), groups)
    groups = [(group, frame.to("group_ownership", hit.cluster, group)) for group in hit.groups]
    return HitLine(hit, frame.to("client", hit.cluster, hit.name), groups)
