"""A real member that pops and dies: what it did not acknowledge comes again once its invisible time is over."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consumers.models import RepeatEvent
from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats.conftest import polled_site
from tests.consumers.repeats.test_repeats_live import polled_until
from tests.consumers.resetting.live_site import Site
from tests.plugins.counting_consumers import CountingConsumers
from tests.plugins.java_admin import JavaAdmin
from tests.popping import popping_cluster

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
]

GROUP, TOPIC, MESSAGES = "repeats-popped", "RepeatsPopped", 6
INVISIBLE_SECONDS = 20.0


@pytest.fixture
def popping(rocketmq_jars: Path, tmp_path: Path) -> Iterator[tuple[RocketMQ, JavaAdmin]]:
    with popping_cluster(tmp_path / "rocketmq", rocketmq_jars, GROUP, TOPIC) as found:
        yield found


@pytest.fixture
def site(popping: tuple[RocketMQ, JavaAdmin], api: Client, tmp_path: Path, settings: Any) -> Iterator[Site]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    with polled_site(*popping, api, tmp_path / "lake", ["broker-a"]) as site:
        yield site


def a_member(number: int, seconds: float) -> dict[str, Any]:
    named = {"group": GROUP, "topic": TOPIC, "instance": f"popped-{number}", "seconds": (seconds, seconds)}
    return {**named, "threads": MESSAGES, "pops": True, "invisible_milliseconds": int(INVISIBLE_SECONDS * 1000)}


def test_what_a_member_popped_and_did_not_acknowledge_is_one_event_with_its_number(
    site: Site,
    evaluated: Callable[[str, str], None],
    popping: tuple[RocketMQ, JavaAdmin],
    rocketmq_jars: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cluster, admin = popping
    with CountingConsumers(cluster.namesrv, rocketmq_jars, tmp_path / "killed", [a_member(1, 300.0)]) as killed:
        first = site.poll()
        # What came in a minute is known where there is a reading before it.
        began = timezone.now().replace(second=0, microsecond=0) + timedelta(minutes=1)
        polled_until(site, lambda: timezone.now() > began, "a minute does not end")
        admin.send(TOPIC, "broker-a", 0, MESSAGES)
        polled_until(site, lambda: site.offsets(GROUP, TOPIC) == {("broker-a", 0): MESSAGES}, "nothing was popped")
        killed.kill()
        with CountingConsumers(cluster.namesrv, rocketmq_jars, tmp_path / "staying", [a_member(2, 0.0)]) as staying:
            polled_until(site, lambda: sum(staying.consumed().values()) >= MESSAGES, "nothing came again")
            # The minute in which it came is over.
            over = timezone.now().replace(second=0, microsecond=0) + timedelta(seconds=65)
            last = polled_until(site, lambda: timezone.now() > over, "a minute does not end")
            true = sum(staying.consumed().values())

    evaluated(first, last)
    found = list(RepeatEvent.objects.values_list("cause", "confidence", "redelivered_low", "redelivered_high"))
    with capsys.disabled():
        print(f"\npopped: {true} redelivered, told: {found}")
    [(cause, confidence, low, high)] = found
    assert (cause, confidence) == ("pop_revive", "likely")
    assert low is not None
    assert high is not None
    assert low <= true <= high
