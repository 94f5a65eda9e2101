"""Freshness of evaluations, and the pipeline runs that made them."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min
from django.utils.translation import gettext, gettext as _, gettext_lazy

from consumers.models import Cluster, PipelineRun
from consumers.models.asked_once import asked_once
from consumers.queries.declared import copied
from consumers.queries.limits import CLOCKS_DIFFER, Freshness, limits, missed
from consumers.words.spans import age

HOUR = timedelta(hours=1)
RUNS_SHOWN = 20
NEVER_RUN = gettext_lazy("no run of the pipeline has finished yet")


@dataclass(frozen=True)
class PipelineRow:
    since: datetime
    until: datetime
    started_at: datetime
    finished_at: datetime | None
    seconds: float | None
    queues_judged: int | None
    groups_judged: int | None
    error: str | None
    skipped: bool  # there was no new reading


@dataclass(frozen=True)
class PipelineStatus:
    """`judged_until` is the end of the range of the last run that succeeded. Failed and missed: of the last hour."""

    freshness: Freshness
    freshness_detail: str
    since: datetime | None
    judged_until: datetime | None
    last_run: PipelineRow | None
    failed_runs: int
    missed_runs: int
    runs: list[PipelineRow]
    unknown: dict[str, str] = field(default_factory=dict)


def pipeline_status(now: datetime) -> PipelineStatus:
    """Three queries: the runs of the last hour, the last successful one, and since when there is something
    to evaluate.
    """
    recent = list(PipelineRun.objects.filter(started_at__gt=now - HOUR, started_at__lte=now).order_by("started_at"))
    good = _newest_good(now)
    last = recent[-1] if recent else PipelineRun.objects.filter(started_at__lte=now).first()
    freshness, detail = _freshness(good, last, now)
    registered = Cluster.objects.aggregate(first=Min("created_at"))["first"]
    return PipelineStatus(
        freshness=freshness,
        freshness_detail=detail,
        since=good.until if good else None,
        judged_until=good.until if good else None,
        last_run=_run_row(last) if last else None,
        failed_runs=sum(run.error is not None for run in recent),
        missed_runs=missed(
            [run.started_at for run in recent],
            settings.CONSUMERSCOPE_AGGREGATE_SECONDS,
            now,
            since=None if registered is None else min(now, max(registered, now - HOUR)),
        ),
        runs=[_run_row(run) for run in reversed(recent[-RUNS_SHOWN:])],
        unknown={} if good else dict.fromkeys(("since", "judged_until"), str(NEVER_RUN)),
    )


@dataclass(frozen=True)
class LateEvaluation:
    """`since`: the time of the shown states; null before the first evaluation. `cause`: a sentence or two."""

    since: datetime | None
    cause: str


def late_evaluation(now: datetime) -> LateEvaluation | None:
    """Null while states are current, and while there is nothing to evaluate. Three queries, one while evaluations are
    in time.
    """
    since = limits().judged_since(now)
    good = _newest_good(now)
    if good is not None and good.until >= since:
        return None
    registered = Cluster.objects.aggregate(first=Min("created_at"))["first"]
    if registered is None or (good is None and registered >= since):
        return None
    last = PipelineRun.objects.filter(started_at__lte=now).order_by("-started_at").first()
    return LateEvaluation(good.until if good else None, _cause(last, now))


@asked_once
def _newest_good(now: datetime) -> PipelineRun | None:
    """A run with a time in the future says nothing about now: its clock was set back since."""
    good = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now + CLOCKS_DIFFER)
    return good.order_by("-until").first()


def _cause(last: PipelineRun | None, now: datetime) -> str:
    if last is None:
        return _("No run was ever started. Start the Spark worker.")
    if last.error:
        return last.error
    taken = age((now - last.started_at).total_seconds())
    if last.finished_at is not None:
        return _("No run was started for %s. Check that the Spark worker runs and is not busy with other jobs.") % taken
    if now - last.started_at <= timedelta(seconds=settings.SPARK_RUN_LIMIT_SECONDS):
        return _("A run has been going on for %s.") % taken
    return (
        _("A run was started %s ago and never ended: its worker was killed. Check that the Spark worker runs.") % taken
    )


def _freshness(good: PipelineRun | None, last: PipelineRun | None, now: datetime) -> tuple[Freshness, str]:
    failure = last.error if last else None
    if good is None:
        return Freshness.SILENT, failure or str(NEVER_RUN)
    if good.until < limits().judged_since(now):
        return Freshness.SILENT, failure or gettext("no run has finished for too long")
    # A run covers the time up to its start, and may itself take an interval.
    if failure or good.until < now - timedelta(seconds=3 * settings.CONSUMERSCOPE_AGGREGATE_SECONDS):
        return Freshness.LATE, failure or gettext("the next run is overdue")
    return Freshness.FRESH, gettext("evaluated on time")


def _run_row(run: PipelineRun) -> PipelineRow:
    return copied(PipelineRow, run)
