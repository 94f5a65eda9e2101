"""How previews come to a general worker, one at a time."""

from typing import Any
from uuid import uuid4

import pytest

from consumers.alerts.tasks import PREVIEWS, enqueue_preview, previews_due, replay_preview
from consumers.jobs.asking import RedisDown
from consumers.polling.locks import lock
from consumers.words.reasons import stored_words
from dashboard.settings.work import CELERY_BEAT_SCHEDULE
from tests.alert_rows import a_preview
from tests.world import ago


def test_a_general_worker_is_told(redis: Any) -> None:
    enqueue_preview(uuid4())
    assert redis.llen("general") == 1


@pytest.mark.usefixtures("redis_is_down")
def test_without_redis_it_has_failed_with_that_reason(db: None) -> None:
    row = a_preview()
    with pytest.raises(RedisDown):
        enqueue_preview(row.pk)
    row.refresh_from_db()
    assert (row.status, "Redis does not answer" in (stored_words(row.error) or "")) == ("failed", True)


def test_it_waits_while_another_is_answered(redis: Any, db: None) -> None:
    row = a_preview()
    with lock(PREVIEWS, 60):
        replay_preview(str(row.pk))
    row.refresh_from_db()
    assert (row.status, redis.llen("general")) == ("waiting", 1)


def test_one_that_is_done_is_not_begun_again(redis: Any, db: None) -> None:
    replay_preview(str(a_preview(status="done").pk))
    with lock(PREVIEWS, 60):
        assert redis.llen("general") == 0


def test_beat_ends_what_nobody_takes_up(db: None) -> None:
    row = a_preview()
    row.created_at = ago(400)
    row.save()
    previews_due()
    row.refresh_from_db()
    assert row.status == "failed"
    assert CELERY_BEAT_SCHEDULE["previews"]["task"] == "consumers.previews_due"
