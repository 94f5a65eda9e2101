"""The frame of every page: navigation, cluster, time range and freshness, all from the URL."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, TypeVar
from urllib.parse import urlencode

from csp.constants import SELF
from csp.decorators import csp_update
from django.contrib.auth.decorators import login_required
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from consumers.alerts.queries.deliveries import FailingChannel, failing_channels
from consumers.clusters.pipeline_runs import LateEvaluation, late_evaluation
from consumers.clusters.summaries import ClusterSummary, cluster_summaries
from consumers.models import ConsumerGroup, State
from consumers.queries.groups import find_group, first_seen
from consumers.queries.limits import Evaluated, Freshness as Level, evaluated
from dashboard.figures.plotly_files import PATH
from dashboard.pages.site.login import opened_or_sent
from dashboard.wording.numbers import ago

from .bar import bar_of
from .moments import LABELS, Range, range_of

# Who may open a page, its policy for charts, and what is wrong with a form.

# Who may see pages, and the parts of pages that refresh by themselves.
View = Callable[..., HttpResponse]
Row = TypeVar("Row", bound=Model)


def page(view: View) -> View:
    return require_safe(never_cache(login_required(view)))


def form_page(view: View) -> View:
    """A page whose form is sent to its own address."""
    return opened_or_sent(never_cache(login_required(view)))


def part(view: View) -> View:
    """A fragment. Who is not logged in any more is led to the login page, not shown it inside the page."""
    guarded = page(view)

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.htmx and not request.user.is_authenticated:  # type: ignore[attr-defined]
            return HttpResponseClientRefresh()
        return guarded(request, *args, **kwargs)

    return answer


# What a page with a chart may load beyond the site's policy: exactly what plotly.js needs to style its drawing.
# plotly.js sets style attributes and adds two style elements when it loads: one that it fills rule by rule and so
# begins empty, and the sheet of its maps. The hashes are those of their texts; a test computes them anew.
EMPTY_SHEET = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"

MAP_SHEET = "'sha256-ji27qzEtxXZW+7dun6UwjHXJ18e6WAin1VvNtkzIE/o='"

DIRECTIVES: dict[str, Any] = {
    "style-src-elem": [SELF, EMPTY_SHEET, MAP_SHEET],
    "style-src-attr": ["'unsafe-inline'"],
    "img-src": ["blob:"],
}

with_charts = csp_update(DIRECTIVES)


def refreshing(
    template: str,
    part_template: str,
    context_of: Callable[..., dict[str, Any]],
    *,
    mark: str = "is_part",
    charts: bool = False,
    ends: bool = False,
) -> tuple[View, View]:
    """A page, and the part of it that refreshes by itself, marked as such.

    `context_of` takes the request and what its address names. `charts`: plotly.js draws on it. `ends`: what it shows is
    worked on for a while (`is_working`); then the whole page is loaded once more.
    """

    def whole(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        shown = {"plotly": static(PATH)} if charts else {}
        return render(request, template, context_of(request, *args, *named.values()) | shown)

    def again(request: HttpRequest, *args: Any, **named: Any) -> HttpResponse:
        shown = context_of(request, *args, *named.values())
        if ends and request.htmx and not shown["is_working"]:  # type: ignore[attr-defined]
            return HttpResponseClientRefresh()
        return render(request, part_template, shown | {mark: True})

    seen = page(whole)
    return (with_charts(seen) if charts else seen), part(again)  # type: ignore[return-value]


def row_or_404(model: type[Row], pk: int, why: str) -> Row:
    row = model._default_manager.filter(pk=pk).first()
    if row is None:
        raise Http404(why)
    return row


def no_group(cluster: str, group: str) -> Http404:
    return Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": group, "cluster": cluster})


# What is wrong with a form that was sent, for the summary at its top.
def problems(errors: Mapping[str, str]) -> list[tuple[str, str]]:
    """The id of the field and what is wrong with it; no id where it is of no one field."""
    return [(f"field-{name}" if name else "", sentence) for name, sentence in errors.items()]


# How fresh what the page shows is, in one phrase for the top bar, with the brokers behind it.

WORST_FIRST = [Level.SILENT, Level.LATE, Level.FRESH]


@dataclass(frozen=True)
class BrokerLine:
    cluster: str
    broker: str
    read_at: datetime | None
    problem: str


@dataclass(frozen=True)
class Freshness:
    level: Level
    text: str
    lines: list[BrokerLine]


def freshness_of(clusters: Sequence[ClusterSummary], now: datetime) -> Freshness:
    """The oldest of the clusters' newest readings stands for all, and the worst cluster gives the level."""
    if not clusters:
        return Freshness(Level.SILENT, _("no cluster is registered"), [])
    read = [row.read_at for row in clusters]
    known = [at for at in read if at is not None]
    age = _("scraped %s") % ago(min(known), now) if len(known) == len(read) else _("not scraped yet")
    listed = sum(len(row.masters) for row in clusters)
    template = ngettext("%(read)s of %(listed)s broker", "%(read)s of %(listed)s brokers", listed)
    brokers = template % {"read": sum(row.brokers_read for row in clusters), "listed": listed}
    level = min((row.freshness for row in clusters), key=WORST_FIRST.index)
    without = [row.name for row in clusters if not row.masters]
    parts = [age, brokers]
    if without:
        whose = without[0] if len(without) == 1 else _("%s clusters") % len(without)
        parts.append(_("no broker listed for %s") % whose)
    return Freshness(level, " · ".join(parts), [line for row in clusters for line in _lines(row)])


def _lines(cluster: ClusterSummary) -> list[BrokerLine]:
    if not cluster.masters:
        return [BrokerLine(cluster.name, "", None, _("no broker listed"))]
    return [BrokerLine(cluster.name, one.name, one.last_read_at, one.problem) for one in cluster.masters]


KEPT = ("cluster", "range")
# What an address says of pages of lists.
PAGES = ("page", "firing")


@dataclass(frozen=True)
class Choice:
    label: str
    href: str
    current: bool
    name: str = ""


@dataclass(frozen=True)
class RangeMove:
    sign: str
    label: str
    href: str


@dataclass(frozen=True)
class Frame:
    request: HttpRequest
    now: datetime
    range: Range
    clusters: list[ClusterSummary]
    cluster: str | None
    freshness: Freshness

    @property
    def rail(self) -> list[Choice]:
        here = self.request.path
        pages = (
            ("overview", _("Overview")),
            ("groups", _("Groups")),
            ("findings", _("Findings")),
            ("rebalances", _("Rebalances")),
            ("repeats", _("Repeats")),
            ("retries", _("Retries & DLQ")),
            ("resets", _("Resets")),
            ("alerts", _("Alerts")),
            ("clusters", _("Clusters")),
        )
        return [Choice(str(label), self.to(name), _is_under(here, reverse(name)), name) for name, label in pages]

    @cached_property
    def evaluation(self) -> Evaluated:
        return evaluated(self.now)

    @cached_property
    def failing_channels(self) -> list[FailingChannel]:
        """Channels that do not deliver."""
        return failing_channels(self.now)

    @cached_property
    def late_evaluation(self) -> LateEvaluation | None:
        return late_evaluation(self.now)

    @property
    def alerts_page(self) -> str:
        return self.to("alerts")

    @property
    def ranges(self) -> list[Choice]:
        return [Choice(str(label), self.here(range=name), name == self.range.name) for name, label in LABELS.items()]

    @cached_property
    def collected(self) -> Range:
        """The range, from where anything of its clusters was read first."""
        first = first_seen(self.cluster)
        return self.range if first is None else self.range.collected_from(first)

    @property
    def is_past(self) -> bool:
        return self.range.until < self.now.replace(microsecond=0)

    @property
    def range_moves(self) -> list[RangeMove]:
        """One range earlier, one later, and twice as long. What would lead to no other range is left out."""
        moves = [
            ("‹", _("Earlier"), self.range.moved(-1, self.now)),
            ("›", _("Later"), self.range.moved(1, self.now)),
            ("⊖", _("Zoom out"), self.range.wider(self.now)),
        ]
        at_end = self.range.until >= self.now.replace(microsecond=0)
        return [
            RangeMove(sign, label, self.here(range=one.name))
            for sign, label, one in moves
            if not (at_end and sign == "›")
        ]

    @property
    def cluster_choices(self) -> list[Choice]:
        return [Choice(row.name, self._of_cluster(row.name), row.name == self.cluster) for row in self.clusters]

    @property
    def every_cluster(self) -> str:
        return self._of_cluster(None)

    def _of_cluster(self, name: str | None) -> str:
        """A group or topic is on one cluster: from its page the others are a list of groups away."""
        match = self.request.resolver_match
        if match is None or "cluster" not in match.kwargs:
            return self.here(cluster=name)
        query = {"range": self.range.name} | ({"cluster": name} if name else {})
        return f"{reverse('groups')}?{urlencode(query)}"

    @property
    def search(self) -> str:
        return self.request.GET.get("search", "")

    @property
    def kept_fields(self) -> list[tuple[str, str]]:
        return [(name, self.request.GET[name]) for name in KEPT if name in self.request.GET]

    @property
    def groups_page(self) -> str:
        return self.to("groups")

    @property
    def rebalances_page(self) -> str:
        return self.to("rebalances")

    @property
    def unknown_page(self) -> str:
        return self.to("groups", state=State.UNKNOWN)

    @property
    def clusters_page(self) -> str:
        return self.to("clusters")

    def to(self, name: str, *args: str, **filters: str) -> str:
        """The address of a page, with the cluster and range of this one."""
        return self.to_many(name, *args, **filters)

    def to_many(self, name: str, *args: str, **filters: str | list[str]) -> str:
        """The same, where a filter may have several values."""
        query = urlencode(dict(self.kept_fields) | filters, doseq=True)
        return reverse(name, args=args) + (f"?{query}" if query else "")

    def here(self, **changed: str | None) -> str:
        """The address of this page with some of its filters changed; None leaves one out. Paging starts again."""
        query = self.request.GET.copy()
        for name in (*PAGES, *changed):
            query.pop(name, None)
        for name, value in changed.items():
            if value is not None:
                query[name] = value
        return f"?{query.urlencode()}"

    def group(self, cluster: str, group: str) -> str:
        return self.to("group", cluster, group)


def _is_under(path: str, root: str) -> bool:
    return path == root or (root != reverse("overview") and path.startswith(root))


def frame_of(request: HttpRequest, now: datetime) -> Frame:
    clusters = cluster_summaries(now)
    chosen = request.GET.get("cluster") or None
    if chosen is not None and chosen not in {row.name for row in clusters}:
        raise Http404(_("No cluster is registered under the name “%s”.") % chosen)
    shown = [row for row in clusters if chosen in (None, row.name)]
    return Frame(request, now, range_of(request, now), clusters, chosen, freshness_of(shown, now))


def context(frame: Frame, **more: Any) -> dict[str, Any]:
    return {"frame": frame, "now": frame.now, **bar_of(frame.request), **more}


# Tabs of a group, and the group of an address.

# The tabs of a group's page. Each has an address of its own; cluster and range go along.
# Pages that a tab leads to.
LIES_UNDER: dict[str, str] = (
    {"message_attempts": "group_repeats", "queue_message": "group_retries"}
    | dict.fromkeys(("group_dlq", "group_dlq_part", "dlq_message", "resends", "resend", "resend_plan"), "group_retries")
    | dict.fromkeys(
        (
            "group_resets",
            "reset_plan",
            "reset",
            "reset_part",
            "reset_apply",
            "reset_resume",
            "reset_restore",
            "reset_cancel",
        ),
        "group_offsets",
    )
)


@dataclass(frozen=True)
class Tab:
    name: str
    label: str
    href: str
    current: bool


def tabs(frame: Frame, cluster: str, group: str) -> list[Tab]:
    here = frame.request.resolver_match.url_name if frame.request.resolver_match else ""
    here = LIES_UNDER.get(here or "", here)
    labels = (
        ("group", _("Lag")),
        ("group_ownership", _("Ownership")),
        ("group_repeats", _("Repeats")),
        ("group_retries", _("Retries & DLQ")),
        ("group_offsets", _("Offsets")),
        ("group_history", _("History")),
        ("group_settings", _("Settings")),
    )
    return [Tab(name, label, frame.to(name, cluster, group), here in (name, f"{name}_part")) for name, label in labels]


def group_or_404(cluster: str, name: str) -> ConsumerGroup:
    """The group that an address names, or a page that says it is not there."""
    group = find_group(cluster, name)
    if group is None:
        raise no_group(cluster, name)
    return group
