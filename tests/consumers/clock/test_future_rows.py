"""Every recorded time that has yet to come has something that becomes of it."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db.models import DateTimeField, Model

from consumers.alerts.evaluation.machine import CourseTimes, Observation, step
from consumers.alerts.evaluation.rows import course_of
from consumers.clock.future_rows import ACTS, put_right
from consumers.jobs.hold import left_behind, stale_after
from consumers.models import Broker, ConsumerGroup, Incident, Reset, ResetStatus, Silence
from tests.alert_rows import a_rule, a_silence, an_incident
from tests.reset_rows import a_reset
from tests.world import NOW, a_broker, a_cluster, a_group, ago

HOUR = timedelta(hours=1)
MODELS = list(apps.get_app_config("consumers").get_models())

pytestmark = pytest.mark.django_db


def times_of(model: type[Model]) -> set[str]:
    return {field.name for field in model._meta.local_fields if isinstance(field, DateTimeField)}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_time_of_every_model_has_one_act(model: Any) -> None:
    named = ACTS[model].fields if model in ACTS else []
    assert sorted(named) == sorted(times_of(model)), "add the new time to ACTS of consumers/clock/future_rows.py"


@pytest.mark.parametrize("model", ACTS, ids=lambda model: model.__name__)
def test_what_becomes_void_may_be_null(model: Any) -> None:
    assert all(model._meta.get_field(name).null for name in ACTS[model].void.split())


def test_times_that_have_come_stay() -> None:
    a_broker(a_cluster())
    assert put_right(NOW) == {}
    assert Broker.objects.get().last_read_at == ago(5)


def test_a_broker_that_was_read_in_times_to_come_counts_as_not_read() -> None:
    a_broker(a_cluster(), last_read_at=NOW + HOUR)
    assert put_right(NOW) == {"broker": 1}
    assert Broker.objects.get().last_read_at is None


def test_an_incident_that_began_in_times_to_come_fires_when_it_has_lasted_from_now_on() -> None:
    an_incident(a_rule(), a_group(a_cluster()), status="pending", started_at=NOW + HOUR, fired_at=None)
    put_right(NOW)
    course = course_of(Incident.objects.get())
    after = step(course, Observation.HOLDS, CourseTimes(300, 300), NOW + timedelta(seconds=300))
    assert [event.value for event in after.events] == ["firing"]


def test_a_job_whose_mark_of_life_is_of_times_to_come_is_taken_up_again() -> None:
    group = a_group(a_cluster())
    a_reset(group, status=ResetStatus.APPLYING, started_at=NOW + HOUR, working_at=NOW + HOUR)
    put_right(NOW)
    later = NOW + stale_after() + timedelta(seconds=1)
    assert left_behind(Reset, ResetStatus.APPLYING, later) == [Reset.objects.get().pk]


def test_a_silence_that_was_made_ahead_lasts_as_long_as_was_asked_from_now_on() -> None:
    a_silence(created_at=NOW + HOUR, starts_at=NOW + HOUR, ends_at=NOW + 3 * HOUR)
    put_right(NOW)
    found = Silence.objects.get()
    assert (found.created_at, found.starts_at, found.ends_at) == (NOW, NOW, NOW + 2 * HOUR)


def test_a_silence_that_somebody_planned_stays() -> None:
    a_silence(created_at=ago(60), starts_at=NOW + HOUR, ends_at=NOW + 2 * HOUR)
    put_right(NOW)
    assert Silence.objects.get().starts_at == NOW + HOUR


def test_a_silence_that_was_ended_early_does_not_come_back() -> None:
    a_silence(created_at=ago(7200), starts_at=ago(7200), ends_at=NOW + HOUR, ended_by_name="ann")
    put_right(NOW)
    assert Silence.objects.get().ends_at == NOW


def test_a_topic_that_is_unsubscribed_since_times_to_come_is_so_since_now() -> None:
    since: datetime = NOW + HOUR
    a_group(a_cluster(), unsubscribed={"orders": since.isoformat(), "audit": ago(60).isoformat()})
    put_right(NOW)
    assert ConsumerGroup.objects.get().unsubscribed == {"orders": NOW.isoformat(), "audit": ago(60).isoformat()}
