"""One preview as a worker does it: taken once, bounded in time, and ended with a result or a sentence."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from consumers.lake.store import Lake
from consumers.models import PreviewStatus, RulePreview
from consumers.pipeline.failures import sentence
from consumers.pipeline.upkeep import kept_for
from consumers.selectors.limits import limits

from .ending import is_cancelled
from .run import Kept, answer
from .values import Past

logger = logging.getLogger(__name__)

# Others wait for the worker, and pages for the answer.
LIMIT_SECONDS = 60.0
# So long after it a worker that has not let go is ended: see the task.
GRACE_SECONDS = 60.0
LOOK_SECONDS = 0.5
TOO_LONG = f"It took longer than {LIMIT_SECONDS:g} s: choose a shorter range, or a rule of fewer groups."


class GivenUp(Exception):
    """It took too long, or nobody wants it any more."""


def site_lake() -> Lake:
    return Lake.at(settings.CONSUMERSCOPE_LAKE)


def work_on(preview_id: UUID, clock: Callable[[], datetime], lake_of: Callable[[], Lake] = site_lake) -> None:
    """Nothing where another has it, or it waits no more. What fails is kept as a sentence, then raised; what was
    cancelled meanwhile stays so."""
    waiting = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.WAITING)
    if not waiting.update(status=PreviewStatus.RUNNING, started_at=clock()):
        return
    began = time.monotonic()
    try:
        result = _answered(RulePreview.objects.get(pk=preview_id), clock(), Past(lake_of(), _bound(preview_id, began)))
    except Exception as error:
        _failed(preview_id, clock(), time.monotonic() - began, error)
        return
    _end(preview_id, clock(), time.monotonic() - began, PreviewStatus.DONE, result=result)


def _answered(preview: RulePreview, now: datetime, past: Past) -> dict[str, Any]:
    holds = limits()
    seconds = holds.judged_seconds, holds.late_seconds, holds.kinds.evidence_seconds
    return answer(past, preview, Kept(kept_for(), *(timedelta(seconds=one) for one in seconds)), now)


def _bound(preview_id: UUID, began: float) -> Callable[[], None]:
    """Raises GivenUp once the time is over, or the preview cancelled: twice a second the database is asked."""
    looked = began

    def go_on() -> None:
        nonlocal looked
        if (now := time.monotonic()) - began >= LIMIT_SECONDS:
            raise GivenUp(TOO_LONG)
        if now - looked >= LOOK_SECONDS:
            looked = now
            if is_cancelled(preview_id):
                raise GivenUp("It was cancelled.")

    return go_on


def _failed(preview_id: UUID, now: datetime, seconds: float, error: Exception) -> None:
    """Raises what is no matter of time, and nobody's wish."""
    is_late = seconds >= LIMIT_SECONDS
    _end(preview_id, now, seconds, PreviewStatus.FAILED, error=TOO_LONG if is_late else sentence(error))
    if is_cancelled(preview_id):
        logger.info("The preview %s was cancelled after %.1f s.", preview_id, seconds)
    elif is_late:
        logger.error("The preview %s took too long, and was given up.", preview_id)
    else:
        raise error


def _end(preview_id: UUID, now: datetime, seconds: float, status: PreviewStatus, **fields: Any) -> None:
    running = RulePreview.objects.filter(pk=preview_id, status=PreviewStatus.RUNNING)
    running.update(status=status, finished_at=now, seconds=seconds, **fields)
