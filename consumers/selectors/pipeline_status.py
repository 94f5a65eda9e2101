"""How fresh what was judged is, and the runs that judged it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Min

from consumers.models import Cluster, PipelineRun
from consumers.selectors.history.regularity import missed

from .cluster_rows import Freshness, PipelineRow, PipelineStatus
from .limits import limits

HOUR = timedelta(hours=1)
RUNS_SHOWN = 20
NEVER_RUN = "no run of the pipeline has finished yet"


def pipeline_status(now: datetime) -> PipelineStatus:
    """Three queries: the runs of the last hour, the last that succeeded, and since when there is something to judge."""
    recent = list(PipelineRun.objects.filter(started_at__gt=now - HOUR, started_at__lte=now).order_by("started_at"))
    good = PipelineRun.objects.filter(error=None, finished_at__isnull=False).order_by("-until").first()
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
        unknown={} if good else dict.fromkeys(("since", "judged_until"), NEVER_RUN),
    )


def _freshness(good: PipelineRun | None, last: PipelineRun | None, now: datetime) -> tuple[Freshness, str]:
    failure = f"the last run failed: {last.error}" if last and last.error else None
    if good is None:
        return Freshness.SILENT, failure or NEVER_RUN
    if good.until < limits().judged_since(now):
        return Freshness.SILENT, failure or "no run has finished for too long"
    # A run covers the time up to its start, and may itself take an interval.
    if failure or good.until < now - timedelta(seconds=3 * settings.CONSUMERSCOPE_AGGREGATE_SECONDS):
        return Freshness.LATE, failure or "the next run is overdue"
    return Freshness.FRESH, "judged as often as it should be"


def _run_row(run: PipelineRun) -> PipelineRow:
    return PipelineRow(
        since=run.since,
        until=run.until,
        started_at=run.started_at,
        finished_at=run.finished_at,
        seconds=run.seconds,
        queues_judged=run.queues_judged,
        groups_judged=run.groups_judged,
        error=run.error,
    )
