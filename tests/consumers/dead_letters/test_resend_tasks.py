"""How started re-sends come to the workers."""

from typing import Any
from uuid import uuid4

import pytest

from consumers.dead_letters.tasks import enqueue, resend_due
from consumers.models import ResendStatus
from tests.consumers.dead_letters.resend.conftest import a_resend
from tests.world import a_cluster, a_group, ago


def waiting(redis: Any) -> int:
    return int(redis.llen("general"))


def test_a_started_one_is_told_to_the_workers(redis: Any) -> None:
    assert enqueue(uuid4())
    assert waiting(redis) == 1


@pytest.mark.usefixtures("redis_is_down")
def test_without_redis_it_waits_for_beat() -> None:
    assert not enqueue(uuid4())


def test_what_a_worker_has_left_behind_is_told_to_the_others(redis: Any, db: None) -> None:
    group = a_group(a_cluster())
    a_resend(group, status=ResendStatus.RUNNING, started_at=ago(90), working_at=ago(60))
    void = a_resend(group, expires_at=ago(1))
    resend_due()
    void.refresh_from_db()
    assert (waiting(redis), void.status) == (1, ResendStatus.EXPIRED)
