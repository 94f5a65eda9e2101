"""How wishes and applied plans come to the workers."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from consumers.jobs.asking import RedisDown
from consumers.models import ResetStatus
from consumers.resets.tasks import enqueue, enqueue_plan, resets_due
from consumers.words.reasons import stored_words
from dashboard.settings.work import CELERY_BEAT_SCHEDULE
from tests.reset_rows import a_reset
from tests.world import a_cluster, a_group, ago


def waiting(redis: Any) -> int:
    return int(redis.llen("general"))


def test_what_is_to_be_done_is_told_to_the_workers(redis: Any) -> None:
    enqueue_plan(uuid4())
    assert enqueue(uuid4())
    assert waiting(redis) == 2


@pytest.mark.usefixtures("redis_is_down")
def test_without_redis_what_is_to_be_applied_waits_for_beat() -> None:
    assert not enqueue(uuid4())


@pytest.mark.usefixtures("redis_is_down")
def test_without_redis_a_wish_is_refused_at_once(db: None) -> None:
    reset = a_reset(a_group(a_cluster()), status=ResetStatus.PLANNING)
    with pytest.raises(RedisDown):
        enqueue_plan(reset.pk)
    reset.refresh_from_db()
    assert (reset.status, "Redis does not answer" in (stored_words(reset.error) or "")) == (ResetStatus.REFUSED, True)
    assert reset.finished_at <= timezone.now()


def test_what_a_worker_has_left_behind_is_told_to_the_others(redis: Any, db: None) -> None:
    group = a_group(a_cluster())
    a_reset(group, status=ResetStatus.APPLYING, started_at=ago(90), working_at=ago(60))
    void = a_reset(group, expires_at=ago(1))
    forgotten = a_reset(group, status=ResetStatus.PLANNING, created_at=ago(61))
    untaken = a_reset(group, status=ResetStatus.APPLYING, started_at=ago(3600))
    resets_due()
    untaken.refresh_from_db()
    assert untaken.status == ResetStatus.EXPIRED
    void.refresh_from_db()
    forgotten.refresh_from_db()
    assert (waiting(redis), void.status, forgotten.status) == (1, ResetStatus.EXPIRED, ResetStatus.REFUSED)


def test_beat_looks_after_resets_often_enough() -> None:
    assert CELERY_BEAT_SCHEDULE["resets"]["task"] == "consumers.resets_due"
    assert CELERY_BEAT_SCHEDULE["resets"]["schedule"] == 15.0
