"""How rules come to be evaluated, and messages to the workers."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import time_machine

from consumers.alerts.tasks import SENDS_AT_ONCE, alerts_due, alerts_forget, alerts_send, enqueue_channel
from consumers.models import AlertRule, Cluster, Delivery, Incident, Silence
from consumers.polling.locks import lock
from dashboard.settings.work import ALERT_SECONDS, CELERY_BEAT_SCHEDULE, CONSUMERSCOPE_POLL_SECONDS
from tests.alert_rounds import told
from tests.alert_rows import a_channel, a_delivery, a_rule, a_silence
from tests.fake_clock import a_trusted_clock
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_total, ago

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("stopped_clock")]


@pytest.fixture
def behind(db: None) -> Cluster:
    """A group that is behind, a rule that fires at once, and a channel."""
    AlertRule.objects.all().delete()
    cluster = a_cluster()
    a_broker(cluster)
    group = a_group(cluster)
    a_total(group, 4200)
    a_judged_group(group, "STALL")
    a_rule(measure="state", comparison="in", states=["STALL"], threshold=None, for_seconds=0)
    a_channel()
    return cluster


def waiting(redis: Any) -> int:
    return int(redis.llen("alerts"))


def test_what_fires_is_handed_over_at_once(redis: Any, behind: Cluster) -> None:
    alerts_due()
    assert (told(), Delivery.objects.get().status, waiting(redis)) == ([("firing", "billing")], "waiting", 1)


def test_without_redis_it_is_evaluated_all_the_same_and_told_when_redis_is_back(
    redis: Any, behind: Cluster, settings: Any, tmp_path: Any
) -> None:
    url, nowhere = settings.REDIS_URL, str(tmp_path / "nobody-listens.sock")
    settings.REDIS_URL, settings.CELERY_BROKER_URL = f"unix://{nowhere}", f"redis+socket://{nowhere}"
    alerts_due()
    assert (told(), waiting(redis)) == ([("firing", "billing")], 0)
    settings.REDIS_URL, settings.CELERY_BROKER_URL = url, url.replace("unix://", "redis+socket://", 1)
    with time_machine.travel(ago(-15), tick=False):
        alerts_due()
    assert (told(), Delivery.objects.count(), waiting(redis)) == ([("firing", "billing")], 1, 1)


def test_what_a_killed_worker_did_not_hand_over_is_found_by_the_next_turn(redis: Any, behind: Cluster) -> None:
    alerts_due()
    redis.delete("alerts")
    with time_machine.travel(ago(-15), tick=False):
        alerts_due()
    assert (Delivery.objects.count(), waiting(redis)) == (1, 1)


def test_a_turn_is_left_out_while_another_evaluates_and_messages_go_all_the_same(redis: Any, behind: Cluster) -> None:
    a_delivery(a_channel("other"), status="waiting", next_try_at=NOW)
    with lock("alerts", 15):
        alerts_due()
    assert (Incident.objects.count(), waiting(redis)) == (0, 1)


def test_messages_go_also_where_the_evaluation_fails(redis: Any, behind: Cluster) -> None:
    a_delivery(a_channel("other"), status="waiting", next_try_at=NOW)
    AlertRule.objects.update(measure="no such measure")
    with pytest.raises(ValueError, match="no such measure"):
        alerts_due()
    assert waiting(redis) == 1


@pytest.mark.usefixtures("redis_is_down")
def test_without_redis_a_channel_waits_for_beat() -> None:
    assert not enqueue_channel(1)


@pytest.mark.parametrize(("seconds", "again"), [(5, 1), (16, 0)])
def test_a_try_that_is_due_before_beat_comes_by_is_waited_for(redis: Any, seconds: float, again: int) -> None:
    channel = a_channel()
    a_delivery(channel, status="waiting", attempts=1, refusals=1, sent_at=None, next_try_at=ago(-seconds))
    alerts_send(channel.pk)
    assert waiting(redis) == again


def test_nothing_of_alerts_waits_behind_exports_and_resets(redis: Any, behind: Cluster) -> None:
    """Whatever hands it over: beat, a page, or a try that is due soon."""
    channel = a_channel("other")
    enqueue_channel(channel.pk)
    for task in (alerts_due, alerts_forget):
        task.apply_async()
    alerts_send.apply_async(kwargs={"channel_id": channel.pk})
    beat = [one["options"]["queue"] for one in CELERY_BEAT_SCHEDULE.values() if one["task"].startswith("consumers.al")]
    assert (redis.llen("alerts"), redis.llen("general"), beat) == (4, 0, ["alerts", "alerts"])


def test_slow_receivers_leave_threads_to_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    most, begun, over = list[int](), threading.Barrier(SENDS_AT_ONCE + 1), threading.Event()

    def slow(channel_id: int, *_: Any) -> None:
        most.append(channel_id)
        begun.wait(40)
        over.wait(40)

    monkeypatch.setattr("consumers.alerts.tasks.deliver", slow)
    with ThreadPoolExecutor(SENDS_AT_ONCE) as threads:
        for number in range(SENDS_AT_ONCE):
            threads.submit(alerts_send, number)
        begun.wait(40)
        alerts_send(99)
        over.set()
    assert sorted(most) == list(range(SENDS_AT_ONCE))
    monkeypatch.setattr("consumers.alerts.tasks.deliver", lambda channel_id, *_: most.append(channel_id))
    alerts_send(100)
    assert most[-1] == 100


def test_what_is_long_over_is_forgotten() -> None:
    a_silence(starts_at=ago(400 * 86400), ends_at=ago(399 * 86400))
    a_trusted_clock()
    alerts_forget()
    assert not Silence.objects.exists()


def test_nothing_is_forgotten_while_the_clock_is_in_doubt() -> None:
    a_silence(starts_at=ago(400 * 86400), ends_at=ago(399 * 86400))
    alerts_forget()
    assert Silence.objects.exists()


def test_beat_evaluates_as_often_as_the_site_is_read() -> None:
    assert CELERY_BEAT_SCHEDULE["alerts"]["task"] == "consumers.alerts_due"
    assert CELERY_BEAT_SCHEDULE["alerts"]["schedule"] == ALERT_SECONDS == CONSUMERSCOPE_POLL_SECONDS
