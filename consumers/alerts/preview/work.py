"""One preview as the Spark worker does it: taken once, bounded in time, and ended with a result or a sentence."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection
from py4j.protocol import Py4JNetworkError
from pyspark.sql import SparkSession

from consumers.models import Cluster, PreviewStatus, RulePreview
from consumers.pipeline.failures import sentence
from consumers.pipeline.frames import Frames
from consumers.pipeline.site import site_lake, warm_session
from consumers.pipeline.upkeep import kept_for
from consumers.pipeline.watchdog import bounded, leave
from consumers.selectors.limits import limits

from .cancel import is_cancelled
from .run import answer
from .values import Kept

logger = logging.getLogger(__name__)

# The pipeline waits for it: states would be of long ago if it took longer.
LIMIT_SECONDS = 60.0
TOO_LONG = f"It took longer than {LIMIT_SECONDS:g} s: choose a shorter range, or a rule of fewer groups."


def work_on(
    preview_id: UUID, clock: Callable[[], datetime], spark_of: Callable[[], SparkSession] = warm_session
) -> None:
    """Nothing where another has it, or it waits no more. What fails is kept as a sentence, then raised; what was
    cancelled meanwhile stays so."""
    waiting = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.WAITING)
    if not waiting.update(status=PreviewStatus.RUNNING, started_at=clock()):
        return
    began = time.monotonic()
    try:
        result = _answered(RulePreview.objects.get(pk=preview_id), clock(), spark_of())
    except Exception as error:
        _failed(preview_id, clock(), time.monotonic() - began, error)
        return
    _end(preview_id, clock(), time.monotonic() - began, PreviewStatus.DONE, result=result)


def _failed(preview_id: UUID, now: datetime, seconds: float, error: Exception) -> None:
    """Raises what is no matter of time, and nobody's wish."""
    is_late = seconds >= LIMIT_SECONDS
    _end(preview_id, now, seconds, PreviewStatus.FAILED, error=TOO_LONG if is_late else sentence(error))
    if isinstance(error, Py4JNetworkError | ConnectionError):
        # A process whose JVM has died cannot start another.
        logger.critical("Spark's JVM is gone: this process ends, so that its supervisor starts another.")
        leave()
    if is_cancelled(preview_id):
        logger.info("The preview %s was cancelled after %.1f s.", preview_id, seconds)
    elif is_late:
        logger.error("The preview %s took too long, and was given up.", preview_id)
    else:
        raise error


def _answered(preview: RulePreview, now: datetime, spark: SparkSession) -> dict[str, Any]:
    holds = limits()
    seconds = holds.judged_seconds, holds.late_seconds, holds.kinds.evidence_seconds
    kept = Kept(kept_for(), *(timedelta(seconds=one) for one in seconds))
    frames = Frames(spark, site_lake(), list(Cluster.objects.values_list("name", flat=True)))
    with bounded(spark, LIMIT_SECONDS, is_wanted=lambda: _is_wanted(preview.pk)):
        return answer(frames, preview, kept, now)


def _is_wanted(preview_id: UUID) -> bool:
    """A database that does not say is asked again."""
    try:
        return not is_cancelled(preview_id)
    except DatabaseError as error:
        logger.warning("Whether the preview %s was cancelled is not known: %s", preview_id, error)
        return True
    finally:
        # It is the watching thread's own.
        connection.close()


def _end(preview_id: UUID, now: datetime, seconds: float, status: PreviewStatus, **fields: Any) -> None:
    running = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.RUNNING)
    running.update(status=status, finished_at=now, seconds=seconds, **fields)
