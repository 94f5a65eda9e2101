"""The frame around every page: where to go, which cluster, which range, how fresh. All of it lives in the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from consumers.alerts.queries.deliveries import Untold, untold
from consumers.clusters.pipeline_status import LateEvaluation, late_evaluation
from consumers.clusters.queries import cluster_list
from consumers.clusters.rows import ClusterRow
from consumers.models import State
from consumers.queries.evaluation import Evaluated, evaluated
from consumers.queries.limits import Freshness as Level
from consumers.vocabulary.brokers import MASTER
from dashboard.wording.numbers import ago

from .ranges import LABELS, Range, range_of

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


def freshness_of(clusters: Sequence[ClusterRow], now: datetime) -> Freshness:
    """The oldest of the clusters' newest readings stands for all, and the worst cluster gives the level."""
    if not clusters:
        return Freshness(Level.SILENT, _("no cluster is registered"), [])
    read = [row.last_reading.taken_at if row.last_reading else None for row in clusters]
    known = [at for at in read if at is not None]
    age = _("scraped %s") % ago(min(known), now) if len(known) == len(read) else _("not scraped yet")
    brokers = _("%(read)s of %(listed)s brokers") % {
        "read": sum(row.brokers_read for row in clusters),
        "listed": sum(row.brokers_listed for row in clusters),
    }
    level = min((row.freshness for row in clusters), key=WORST_FIRST.index)
    return Freshness(level, f"{age} · {brokers}", [line for row in clusters for line in _lines(row)])


def _lines(cluster: ClusterRow) -> list[BrokerLine]:
    return [
        BrokerLine(cluster.name, broker.name, broker.last_read_at, broker.error or broker.note or "")
        for broker in cluster.brokers
        if broker.id == MASTER
    ]


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
class Frame:
    request: HttpRequest
    now: datetime
    range: Range
    clusters: list[ClusterRow]
    cluster: str | None
    freshness: Freshness

    @property
    def rail(self) -> list[Choice]:
        here = self.request.path
        pages = (
            ("overview", _("Overview")),
            ("groups", _("Groups")),
            ("rebalances", _("Rebalances")),
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
    def untold(self) -> list[Untold]:
        """Channels that do not deliver."""
        return untold(self.now)

    @cached_property
    def late_evaluation(self) -> LateEvaluation | None:
        return late_evaluation(self.now)

    @property
    def alerts_page(self) -> str:
        return self.to("alerts")

    @property
    def ranges(self) -> list[Choice]:
        return [Choice(str(label), self.here(range=name), name == self.range.name) for name, label in LABELS.items()]

    @property
    def cluster_choices(self) -> list[Choice]:
        return [Choice(row.name, self._of_cluster(row.name), row.name == self.cluster) for row in self.clusters]

    @property
    def every_cluster(self) -> str:
        return self._of_cluster(None)

    def _of_cluster(self, name: str | None) -> str:
        """A group is on one cluster: from its page the others are a list of groups away."""
        match = self.request.resolver_match
        if match is None or "group" not in match.kwargs:
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
    clusters = cluster_list(now)
    chosen = request.GET.get("cluster") or None
    if chosen is not None and chosen not in {row.name for row in clusters}:
        raise Http404(_("No cluster is registered under the name “%s”.") % chosen)
    shown = [row for row in clusters if chosen in (None, row.name)]
    return Frame(request, now, range_of(request, now), clusters, chosen, freshness_of(shown, now))


def context(frame: Frame, **more: Any) -> dict[str, Any]:
    return {"frame": frame, "now": frame.now, **more}
