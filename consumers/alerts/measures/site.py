"""How long nothing at all has been read, or judged."""

from collections.abc import Set
from datetime import datetime

from django.db.models import Min
from django.utils.translation import gettext

from consumers.alerts.measured import Table
from consumers.alerts.subjects import SITE
from consumers.models import Cluster, Measure
from consumers.selectors.measures import age

from .ages import Age, age_table
from .explained import Explainer


def site(explainer: Explainer, wanted: Set[Measure]) -> Table:
    """One query at most."""
    ages: dict[Measure, list[Age]] = {}
    if wanted & {Measure.READING_AGE, Measure.JUDGEMENT_AGE}:
        first = Cluster.objects.aggregate(at=Min("created_at"))["at"]
        if Measure.READING_AGE in wanted:
            ages[Measure.READING_AGE] = [_reading(explainer, first)]
        if Measure.JUDGEMENT_AGE in wanted:
            ages[Measure.JUDGEMENT_AGE] = [_judgement(explainer, first)]
    return age_table([SITE], dict(ages))


def _reading(explainer: Explainer, first: datetime | None) -> Age:
    """The newest reading of any cluster; before the first one it counts from when there was something to read."""
    times = [one.newest_reading_at for one in explainer.overlay.clusters.values() if one.newest_reading_at is not None]
    since, now = max(times, default=first), explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to read"))
    seconds = age((now - since).total_seconds())
    if not times:
        return Age.counted(since, now, gettext("no cluster has been read yet, for %s") % seconds)
    is_due = not explainer.nothing_is_polled
    return Age.counted(since, now, gettext("a cluster was last read %s ago") % seconds, is_due=is_due)


def _judgement(explainer: Explainer, first: datetime | None) -> Age:
    since, now = explainer.judged_until or first, explainer.overlay.now
    if since is None:
        return Age(0.0, gettext("there is no cluster to judge"))
    seconds = age((now - since).total_seconds())
    if explainer.judged_until is None:
        return Age.counted(since, now, gettext("nothing has been judged yet, for %s") % seconds)
    is_due = not explainer.nothing_is_judged
    return Age.counted(since, now, gettext("what was read was last judged %s ago") % seconds, is_due=is_due)
