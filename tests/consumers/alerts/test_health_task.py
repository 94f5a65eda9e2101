"""How the health of groups comes to be noted."""

import logging
from typing import Any

import pytest

from consumers.alerts.tasks import health_due
from consumers.models import GroupHealth
from consumers.polling.locks import lock
from dashboard.settings.work import CELERY_BEAT_SCHEDULE, CONSUMERSCOPE_POLL_SECONDS, HEALTH_SECONDS
from tests.health_rows import a_healthy_group, a_read_cluster
from tests.world import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]


def test_every_group_is_noted(redis: Any) -> None:
    a_healthy_group(a_read_cluster())
    health_due()
    row = GroupHealth.objects.get()
    assert (row.group.name, row.level, row.noted_at, row.checked_at) == ("billing", "ok", NOW, NOW)


def test_a_round_that_still_runs_keeps_the_next_one_away(redis: Any, caplog: pytest.LogCaptureFixture) -> None:
    a_healthy_group(a_read_cluster())
    with caplog.at_level(logging.WARNING), lock("health", 60):
        health_due()
    assert "The last round of health checks still runs" in caplog.text
    assert not GroupHealth.objects.exists()


def test_beat_notes_as_often_as_the_site_is_read() -> None:
    assert CELERY_BEAT_SCHEDULE["health"]["task"] == "consumers.health_due"
    assert CELERY_BEAT_SCHEDULE["health"]["schedule"] == HEALTH_SECONDS == CONSUMERSCOPE_POLL_SECONDS
